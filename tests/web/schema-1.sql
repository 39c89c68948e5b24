CREATE TABLE organiser (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_organiser PRIMARY KEY (id), 
	CONSTRAINT ck_organiser_name CHECK (length(name) BETWEEN 1 AND 200)
);
CREATE TABLE evaluation (
	id INTEGER NOT NULL, 
	slug VARCHAR(12) NOT NULL, 
	title TEXT NOT NULL, 
	state TEXT NOT NULL, 
	paused INTEGER NOT NULL, 
	form TEXT NOT NULL, 
	scale TEXT, 
	closes_at VARCHAR(32), 
	zone TEXT NOT NULL, 
	grace INTEGER NOT NULL, 
	draw INTEGER NOT NULL, 
	first_seal VARCHAR(64) NOT NULL, 
	head_n INTEGER NOT NULL, 
	head_hash VARCHAR(64) NOT NULL, 
	closed_head VARCHAR(64), 
	closed_at VARCHAR(32), 
	looked_at VARCHAR(32), 
	retain_until VARCHAR(32), 
	created_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_evaluation PRIMARY KEY (id), 
	CONSTRAINT ck_evaluation_state CHECK (state IN ('draft', 'sealed', 'open', 'closed', 'decided', 'published', 'purged')), 
	CONSTRAINT ck_evaluation_slug CHECK (length(slug) = 12), 
	CONSTRAINT ck_evaluation_paused CHECK (paused IN (0, 1)), 
	CONSTRAINT ck_evaluation_head_hash CHECK (length(head_hash) = 64), 
	CONSTRAINT uq_evaluation_slug UNIQUE (slug)
);
CREATE TABLE session (
	token_sha256 VARCHAR(64) NOT NULL, 
	organiser_id INTEGER NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	expires_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_session PRIMARY KEY (token_sha256), 
	CONSTRAINT ck_session_token_sha256 CHECK (length(token_sha256) = 64), 
	CONSTRAINT fk_session_organiser_id_organiser FOREIGN KEY(organiser_id) REFERENCES organiser (id)
);
CREATE TABLE secret (
	evaluation_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	secret VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_secret PRIMARY KEY (evaluation_id, number), 
	CONSTRAINT ck_secret_secret CHECK (length(secret) = 64), 
	CONSTRAINT fk_secret_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE signin (
	token_sha256 VARCHAR(64) NOT NULL, 
	organiser_id INTEGER, 
	evaluation_id INTEGER, 
	name TEXT NOT NULL, 
	expires_at VARCHAR(32) NOT NULL, 
	used_at VARCHAR(32), 
	CONSTRAINT pk_signin PRIMARY KEY (token_sha256), 
	CONSTRAINT ck_signin_token_sha256 CHECK (length(token_sha256) = 64), 
	CONSTRAINT fk_signin_organiser_id_organiser FOREIGN KEY(organiser_id) REFERENCES organiser (id), 
	CONSTRAINT fk_signin_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE member (
	evaluation_id INTEGER NOT NULL, 
	organiser_id INTEGER NOT NULL, 
	CONSTRAINT pk_member PRIMARY KEY (evaluation_id, organiser_id), 
	CONSTRAINT fk_member_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id), 
	CONSTRAINT fk_member_organiser_id_organiser FOREIGN KEY(organiser_id) REFERENCES organiser (id)
);
CREATE TABLE item (
	evaluation_id INTEGER NOT NULL, 
	id INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	title TEXT NOT NULL, 
	url TEXT NOT NULL, 
	CONSTRAINT pk_item PRIMARY KEY (evaluation_id, id), 
	CONSTRAINT uq_item_evaluation_id_label UNIQUE (evaluation_id, label), 
	CONSTRAINT ck_item_url CHECK (url = '' OR url LIKE 'https://%' OR url LIKE 'http://%'), 
	CONSTRAINT fk_item_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE reviewer (
	evaluation_id INTEGER NOT NULL, 
	id INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	name TEXT NOT NULL, 
	email TEXT NOT NULL, 
	role TEXT NOT NULL, 
	turn INTEGER, 
	state TEXT NOT NULL, 
	begun_at VARCHAR(32), 
	done_at VARCHAR(32), 
	active_at VARCHAR(32), 
	stands_in_for INTEGER, 
	ties_kept INTEGER NOT NULL, 
	CONSTRAINT pk_reviewer PRIMARY KEY (evaluation_id, id), 
	CONSTRAINT uq_reviewer_evaluation_id_label UNIQUE (evaluation_id, label), 
	CONSTRAINT uq_reviewer_evaluation_id_role_turn UNIQUE (evaluation_id, role, turn), 
	CONSTRAINT fk_reviewer_evaluation_id_reviewer FOREIGN KEY(evaluation_id, stands_in_for) REFERENCES reviewer (evaluation_id, id), 
	CONSTRAINT ck_reviewer_role CHECK (role IN ('regular', 'reserve', 'substitute')), 
	CONSTRAINT ck_reviewer_state CHECK (state IN ('invited', 'begun', 'done', 'absent', 'replaced')), 
	CONSTRAINT ck_reviewer_begun CHECK (state NOT IN ('absent', 'replaced', 'invited') OR begun_at IS NULL), 
	CONSTRAINT fk_reviewer_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE draw (
	evaluation_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	part INTEGER NOT NULL, 
	seal VARCHAR(64) NOT NULL, 
	lists TEXT NOT NULL, 
	record TEXT NOT NULL, 
	drawn_at VARCHAR(32) NOT NULL, 
	dropped_at VARCHAR(32), 
	CONSTRAINT pk_draw PRIMARY KEY (evaluation_id, number, part), 
	CONSTRAINT fk_draw_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE event (
	evaluation_id INTEGER NOT NULL, 
	n INTEGER NOT NULL, 
	line TEXT NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_event PRIMARY KEY (evaluation_id, n), 
	CONSTRAINT fk_event_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TRIGGER event_no_update BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TRIGGER event_no_delete BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'the log only grows'); END;
CREATE TABLE job (
	evaluation_id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	options TEXT NOT NULL, 
	record TEXT, 
	report TEXT, 
	summary TEXT, 
	error TEXT, 
	asked_at VARCHAR(32) NOT NULL, 
	done_at VARCHAR(32), 
	CONSTRAINT pk_job PRIMARY KEY (evaluation_id, kind, number), 
	CONSTRAINT ck_job_kind CHECK (kind IN ('check', 'decision')), 
	CONSTRAINT ck_job_state CHECK (state IN ('waiting', 'done', 'failed')), 
	CONSTRAINT fk_job_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE published (
	evaluation_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	body BLOB NOT NULL, 
	at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_published PRIMARY KEY (evaluation_id, name), 
	CONSTRAINT fk_published_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE link (
	token_sha256 VARCHAR(64) NOT NULL, 
	evaluation_id INTEGER NOT NULL, 
	reviewer_id INTEGER NOT NULL, 
	serial INTEGER NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	revoked_at VARCHAR(32), 
	CONSTRAINT pk_link PRIMARY KEY (token_sha256), 
	CONSTRAINT fk_link_evaluation_id_reviewer FOREIGN KEY(evaluation_id, reviewer_id) REFERENCES reviewer (evaluation_id, id), 
	CONSTRAINT uq_link_evaluation_id_reviewer_id_serial UNIQUE (evaluation_id, reviewer_id, serial), 
	CONSTRAINT ck_link_token_sha256 CHECK (length(token_sha256) = 64), 
	CONSTRAINT fk_link_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE task (
	evaluation_id INTEGER NOT NULL, 
	id INTEGER NOT NULL, 
	reviewer_id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	score FLOAT, 
	note TEXT NOT NULL, 
	CONSTRAINT pk_task PRIMARY KEY (evaluation_id, id), 
	CONSTRAINT uq_task_evaluation_id_reviewer_id_item_id UNIQUE (evaluation_id, reviewer_id, item_id), 
	CONSTRAINT uq_task_evaluation_id_reviewer_id_place UNIQUE (evaluation_id, reviewer_id, place), 
	CONSTRAINT fk_task_evaluation_id_reviewer FOREIGN KEY(evaluation_id, reviewer_id) REFERENCES reviewer (evaluation_id, id), 
	CONSTRAINT fk_task_evaluation_id_item FOREIGN KEY(evaluation_id, item_id) REFERENCES item (evaluation_id, id), 
	CONSTRAINT ck_task_state CHECK (state IN ('empty', 'rated', 'recused')), 
	CONSTRAINT ck_task_score CHECK ((state = 'rated') = (score IS NOT NULL)), 
	CONSTRAINT fk_task_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE payload (
	evaluation_id INTEGER NOT NULL, 
	n INTEGER NOT NULL, 
	salt VARCHAR(64) NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_payload PRIMARY KEY (evaluation_id, n), 
	CONSTRAINT fk_payload_evaluation_id_event FOREIGN KEY(evaluation_id, n) REFERENCES event (evaluation_id, n), 
	CONSTRAINT fk_payload_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE submission (
	evaluation_id INTEGER NOT NULL, 
	"key" VARCHAR(32) NOT NULL, 
	task_id INTEGER NOT NULL, 
	reviewer_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	score FLOAT, 
	note TEXT NOT NULL, 
	body_sha256 VARCHAR(64) NOT NULL, 
	at VARCHAR(32) NOT NULL, 
	n INTEGER NOT NULL, 
	receipt VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_submission PRIMARY KEY (evaluation_id, "key", task_id), 
	CONSTRAINT uq_submission_evaluation_id_task_id_version UNIQUE (evaluation_id, task_id, version), 
	CONSTRAINT uq_submission_evaluation_id_n UNIQUE (evaluation_id, n), 
	CONSTRAINT fk_submission_evaluation_id_task FOREIGN KEY(evaluation_id, task_id) REFERENCES task (evaluation_id, id), 
	CONSTRAINT fk_submission_evaluation_id_reviewer FOREIGN KEY(evaluation_id, reviewer_id) REFERENCES reviewer (evaluation_id, id), 
	CONSTRAINT ck_submission_kind CHECK (kind IN ('score', 'recuse', 'clear')), 
	CONSTRAINT ck_submission_key CHECK (length(key) = 32), 
	CONSTRAINT fk_submission_evaluation_id_evaluation FOREIGN KEY(evaluation_id) REFERENCES evaluation (id)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
