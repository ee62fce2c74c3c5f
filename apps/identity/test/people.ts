import { createHash, randomUUID } from 'node:crypto';
import {
  AcceptInvitationV1,
  BeginPasskeyRegistrationV1,
  BeginPasskeySignInV1,
  BeginSignInV1,
  BeginTotpV1,
  type CommandType,
  ConfirmTotpV1,
  FinishPasskeyRegistrationV1,
  FinishPasskeySignInV1,
  FinishSignInV1,
  INVITATION_PATH,
  type PersonActor,
  type PersonSession,
  ReadPersonSessionV1,
  type Role,
  type StartedPersonSession,
  TOTP_PERIOD_SECONDS,
} from '@svc/contracts';
import { Commands } from '@svc/messaging';
import type { TestService, TestServiceOptions } from '@svc/testing';
import { TOTP } from 'otpauth';
import { adminClient, type Client, startIdentity } from './identity.js';
import { SoftwareAuthenticator } from './software-authenticator.js';

export const PASSWORD = 'correct horse battery';
export const BROWSER = sha256('a browser');
export const OTHER_BROWSER = sha256('another browser');
export const ADDRESS = '203.0.113.7';

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A person of a test, with everything that the person remembers. */
export interface TestPerson {
  readonly personId: string;
  readonly email: string;
  readonly session: StartedPersonSession;
  /** Empty for a person without TOTP. */
  readonly totpSecret: string;
}

/** The code or codes of the errors that a command was refused with. */
export interface Refusal {
  readonly code: string;
  readonly fields: readonly { readonly field: string }[];
  readonly retryAfterSeconds: number | undefined;
}

/** identity with functions that do what the console does. */
export class PeopleUnderTest {
  private constructor(
    readonly identity: TestService,
    readonly admin: Client,
  ) {}

  static async start(options: TestServiceOptions = {}): Promise<PeopleUnderTest> {
    const identity = await startIdentity(options);
    return new PeopleUnderTest(identity, adminClient(identity));
  }

  stop(): Promise<void> {
    return this.identity.stop();
  }

  send<Request, Reply>(type: CommandType<Request, Reply>, request: NoInfer<Request>): Promise<Reply> {
    return this.identity.service.app.get(Commands).request(type, request);
  }

  /** The refusal of a command. Throws if the command succeeds. */
  async refusal<Request, Reply>(type: CommandType<Request, Reply>, request: NoInfer<Request>): Promise<Refusal> {
    const error: unknown = await this.send(type, request).then(
      () => undefined,
      (refused: unknown) => refused,
    );
    if (error === undefined) throw new Error(`${type.name} was not refused.`);
    const { code, fields, retryAfterSeconds } = error as Refusal;
    return { code, fields, retryAfterSeconds };
  }

  async newMerchant(name = 'Merchant'): Promise<number> {
    return (await this.admin('POST', '/admin/v1/merchants', { name })).body.merchantId as number;
  }

  async newSite(merchantId: number): Promise<number> {
    const site = { name: 'Shop', siteReference: randomUUID() };
    return (await this.admin('POST', `/admin/v1/merchants/${merchantId}/sites`, site)).body.siteId as number;
  }

  /** The token of an invitation by an administrator. */
  async inviteByAdministrator(merchantId: number, email: string, role: Role, siteId?: number): Promise<string> {
    const path = `/admin/v1/merchants/${merchantId}/people`;
    const { status, body } = await this.admin('POST', path, {
      email,
      role,
      ...(siteId === undefined ? {} : { siteId }),
    });
    if (status !== 201) throw new Error(`The invitation was refused with ${status}: ${JSON.stringify(body)}`);
    return (body.path as string).slice(INVITATION_PATH.length);
  }

  /** Accepts an invitation as a new person, whose session can only set up a second factor. */
  async accept(invitationToken: string, email: string, browser = BROWSER): Promise<TestPerson> {
    const request = { invitationToken, browser, requestId: 'accept', name: nameOf(email), password: PASSWORD };
    const { personId, session } = await this.send(AcceptInvitationV1, request);
    return { personId, email, session: session!, totpSecret: '' };
  }

  /** A person without a second factor. */
  async newPersonWithoutFactor(merchantId: number, role: Role, siteId?: number): Promise<TestPerson> {
    const email = newEmail(role);
    return this.accept(await this.inviteByAdministrator(merchantId, email, role, siteId), email);
  }

  /** A person who has set up TOTP, and whose session has the role. */
  async newPerson(merchantId: number, role: Role, siteId?: number): Promise<TestPerson> {
    return this.setUpTotp(await this.newPersonWithoutFactor(merchantId, role, siteId));
  }

  async setUpTotp(person: TestPerson): Promise<TestPerson> {
    const actor = actorOf(person);
    const { secret } = await this.send(BeginTotpV1, { actor });
    await this.send(ConfirmTotpV1, { actor, code: this.code(secret) });
    this.nextStep();
    return { ...person, totpSecret: secret };
  }

  /** The present code of a TOTP secret, or of another step. */
  code(secret: string, steps = 0): string {
    const timestamp = this.identity.clock.now().getTime() + steps * TOTP_PERIOD_SECONDS * 1000;
    return new TOTP({ secret }).generate({ timestamp });
  }

  /** A code that the present code and the neighbours differ from. */
  wrongCode(secret: string): string {
    const codes = [-1, 0, 1].map((steps) => this.code(secret, steps));
    return ['000000', '111111', '222222', '333333'].find((code) => !codes.includes(code))!;
  }

  /** Lets time pass until the next TOTP step, because each step is used once. */
  nextStep(): void {
    this.identity.clock.advance(TOTP_PERIOD_SECONDS * 1000);
  }

  async beginSignIn(email: string, password = PASSWORD, address = ADDRESS): Promise<string> {
    return (await this.send(BeginSignInV1, { email, password, address })).signInToken;
  }

  /** Signs in with the password and a code. */
  async signIn(person: TestPerson, browser = BROWSER): Promise<TestPerson> {
    const signInToken = await this.beginSignIn(person.email);
    const code = this.code(person.totpSecret);
    const session = await this.send(FinishSignInV1, { signInToken, code, browser });
    this.nextStep();
    return { ...person, session };
  }

  async readSession({ session }: TestPerson, browser = BROWSER, isActivity = true): Promise<PersonSession | undefined> {
    const request = { sessionHash: sha256(session.sessionToken), browser, isActivity };
    return (await this.send(ReadPersonSessionV1, request)).session;
  }

  /** Registers a passkey in the person's session. */
  async registerPasskey(person: TestPerson, counter = 0): Promise<SoftwareAuthenticator> {
    const authenticator = new SoftwareAuthenticator();
    const actor = actorOf(person);
    const challenge = await this.send(BeginPasskeyRegistrationV1, { actor });
    const proof = authenticator.register(challenge, { counter });
    await this.send(FinishPasskeyRegistrationV1, { ...proof, actor, name: 'Phone' });
    return authenticator;
  }

  async signInWithPasskey(authenticator: SoftwareAuthenticator, counter = 0): Promise<StartedPersonSession> {
    const challenge = await this.send(BeginPasskeySignInV1, { address: ADDRESS });
    return this.send(FinishPasskeySignInV1, { ...authenticator.answer(challenge, { counter }), browser: BROWSER });
  }

  /** The audit log of a merchant, or of people without a merchant, without times and numbers. */
  async readAuditLog(merchantId: number | null): Promise<Record<string, unknown>[]> {
    return this.identity.dataSource.query(
      `SELECT action, actor, request_id AS "requestId", site_id AS "siteId", credential_id AS "credentialId", before, after
         FROM audit_log WHERE merchant_id IS NOT DISTINCT FROM $1 ORDER BY entry_id`,
      [merchantId],
    );
  }
}

export function newEmail(name: string): string {
  return `${name}-${randomUUID()}@shop.example`;
}

function nameOf(email: string): string {
  return `Name of ${email.slice(0, email.indexOf('-'))}`;
}

export function actorOf({ session }: TestPerson, browser = BROWSER): PersonActor {
  return { sessionHash: sha256(session.sessionToken), browser, requestId: 'request-1' };
}

/** The members of an invitation that are not its subject. */
export function newInvitation(): { invitationId: string; language: 'en' } {
  return { invitationId: randomUUID(), language: 'en' };
}
