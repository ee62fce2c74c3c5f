-- For each service a schema that no other service sees, and two roles: `svc_<service>_owner` owns the schema and runs the
-- migrations; the service runs as `svc_<service>`, which reads and writes rows (ADR 45). Run as a superuser in the
-- platform's own database, with any client. To change a password, run it again. The passwords are settings of the session:
--
--   PGOPTIONS='-c svc.identity_owner_password=… -c svc.identity_password=… …' psql -d svc -f roles.sql
--
-- A missing password ends it with an error, and nothing is changed. The names are those of the apps' folders.
DO $roles$
DECLARE
  service text;
  role text;
  owner text;
  login text;
BEGIN
  -- Statements of services would queue behind a waiting lock, so this script gives up instead and can be run again.
  PERFORM set_config('lock_timeout', '5s', true);
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE ALL ON SCHEMA public FROM PUBLIC;
  FOREACH service IN ARRAY ARRAY['identity', 'payment_processor', 'hosted_gateway', 'webhook_dispatcher', 'demo_shop', 'code_decoder', 'payment_history', 'merchant_retrieval']
  LOOP
    role := 'svc_' || service;
    owner := role || '_owner';
    FOREACH login IN ARRAY ARRAY[role, owner]
    LOOP
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = login) THEN EXECUTE format('CREATE ROLE %I', login); END IF;
      EXECUTE format(
        'ALTER ROLE %I WITH LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD %L',
        login, current_setting(replace(login, 'svc_', 'svc.') || '_password'));
      EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = %I', login, current_database(), service);
      -- An idle open transaction would hold back the relays of all services.
      EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = %L', login, '10s');
      EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), login);
    END LOOP;
    EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I AUTHORIZATION %I', service, owner);
    -- Until ADR 45 the service's own role owned everything.
    -- Once: the service's role may later create objects, such as large objects, and must not get these privileges back with them.
    IF EXISTS (SELECT FROM pg_namespace WHERE nspname = service AND nspowner = role::regrole) THEN
      EXECUTE format('REASSIGN OWNED BY %I TO %I', role, owner);
      EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO %I', service, role);
      EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO %I', service, role);
    END IF;
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', service);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', service, role);
    -- For objects of migrations; a migration of an append-only table revokes the excess (libs/messaging/src/migrations).
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %I', owner, service, role);
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT USAGE ON SEQUENCES TO %I', owner, service, role);
  END LOOP;
END
$roles$;
