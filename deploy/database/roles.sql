-- A role for each service that owns one schema and sees no other. Run as a superuser inside the platform's own database,
-- by any client; it may be repeated, which is also how a password is changed. The passwords are settings of the session:
--
--   PGOPTIONS='-c svc.identity_password=… -c svc.payment_processor_password=…' psql -d svc -f roles.sql
--
-- One that is missing ends it with an error, and nothing is changed. The names are those of the apps' folders.
DO $roles$
DECLARE
  service text;
  role text;
BEGIN
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE ALL ON SCHEMA public FROM PUBLIC;
  FOREACH service IN ARRAY ARRAY['identity', 'payment_processor', 'hosted_gateway', 'webhook_dispatcher', 'demo_shop', 'code_decoder', 'payment_history', 'merchant_retrieval']
  LOOP
    role := 'svc_' || service;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN EXECUTE format('CREATE ROLE %I', role); END IF;
    EXECUTE format(
      'ALTER ROLE %I WITH LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD %L',
      role, current_setting('svc.' || service || '_password'));
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = %I', role, current_database(), service);
    -- An open transaction that does nothing would hold back the relays of all services.
    EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = %L', role, '10s');
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), role);
    EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I AUTHORIZATION %I', service, role);
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', service);
  END LOOP;
END
$roles$;
