import type { MigrationInterface, QueryRunner } from 'typeorm';

export class LoginSuccesses1763500000131 implements MigrationInterface {
  readonly name = 'LoginSuccesses1763500000131';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE login_successes (
        address text        NOT NULL CONSTRAINT login_successes_address_shape CHECK (address ~ '^[0-9a-f]{64}$'),
        email   text        NOT NULL CONSTRAINT login_successes_email_shape CHECK (email ~ '^[0-9a-f]{64}$'),
        at      timestamptz NOT NULL,
        PRIMARY KEY (address, email)
      );
      CREATE INDEX login_successes_of_address ON login_successes (address, at);
      CREATE INDEX login_successes_at ON login_successes (at);
      COMMENT ON TABLE login_successes IS 'Customers who logged in from an address in the last day. Each of them raises the limit of failures of the address (A5).';
      COMMENT ON COLUMN login_successes.address IS
        'SHA-256 of the client address. The columns address and email have the format of login_failures.subject.';
      COMMENT ON COLUMN login_successes.at IS 'Time of the last successful login.';
      COMMENT ON COLUMN login_failures.subject IS 'SHA-256 of an organisation and an email, counted before the password is checked, whether or not the user exists. Or SHA-256 of a client address, counted after the check.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
