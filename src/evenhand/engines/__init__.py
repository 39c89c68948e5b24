"""Beyond one machine: ratings counted where they are, work done by any executor."""
