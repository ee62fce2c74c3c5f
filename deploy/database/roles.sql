-- Creates for each service a schema that no other service can access, and two roles: `svc_<service>_owner` owns the schema
-- and runs the migrations; the service runs as `svc_<service>`, which reads and writes rows (ADR 45). Run this script as a
-- superuser in the platform's own database, with any client. To change a password, run it again. The script reads the
-- passwords from settings of the session:
--
--   PGOPTIONS='-c svc.identity_owner_password=… -c svc.identity_password=… …' psql -d svc -f roles.sql
--
-- If a password is missing, the script fails and changes nothing. The services have the names of the apps' folders.
DO $roles$
DECLARE
  service text;
  role text;
  owner text;
  login text;
  setting text;
BEGIN
  -- While this script waited for a lock, statements of services would wait behind it. So it fails instead; run it again.
  PERFORM set_config('lock_timeout', '5s', true);
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE ALL ON SCHEMA public FROM PUBLIC;
  FOREACH service IN ARRAY ARRAY['identity', 'payment_processor', 'hosted_gateway', 'webhook_dispatcher', 'demo_shop', 'code_decoder', 'payment_history', 'merchant_retrieval', 'console']
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
      -- An idle open transaction would delay the seals of the ledger.
      EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = %L', login, '10s');
      -- The programs set the same values when they connect, but a connection pooler does not pass them on.
      IF login = owner THEN
        EXECUTE format('ALTER ROLE %I SET statement_timeout = %L', login, '25min');
        EXECUTE format('ALTER ROLE %I SET lock_timeout = %L', login, '5s');
      ELSE
        EXECUTE format('ALTER ROLE %I SET statement_timeout = %L', login, '15s');
        EXECUTE format('ALTER ROLE %I SET plan_cache_mode = %L', login, 'force_generic_plan');
        FOREACH setting IN ARRAY ARRAY['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']
        LOOP
          EXECUTE format('ALTER ROLE %I SET %I = off', login, setting);
        END LOOP;
      END IF;
      EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), login);
    END LOOP;
    EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I AUTHORIZATION %I', service, owner);
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', service);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', service, role);
    -- Privileges on objects that migrations create. A migration of an append-only table revokes UPDATE and DELETE
    -- (libs/messaging/src/migrations).
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %I', owner, service, role);
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT USAGE ON SEQUENCES TO %I', owner, service, role);
  END LOOP;
END
$roles$;
