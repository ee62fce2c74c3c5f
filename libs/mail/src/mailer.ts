import type { FactoryProvider, Type } from '@nestjs/common';
import { Clock, createCounter } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { checkMail, type Mail } from './mail.js';
import { type MailConfig, readMailSettings } from './mail-config.js';
import { createFolderTransport } from './mail-folder.js';
import { createSmtpTransport, hasServer, type MailTransport, type Message } from './mail-transports.js';

/** For the whole transfer, with the connection. */
const SEND_TIMEOUT_MS = 10_000;
/** Mails that a process sends at the same time. Each has a connection. Further mails are refused. */
const MAX_CONCURRENT_MAILS = 20;

/**
 * The outcome of one attempt. `recipient-rejected`: the server does not accept the recipient, so a repetition with the
 * same address fails too. `unavailable`: the server did not accept the mail in time, or mails are off; a later repetition
 * may succeed. The server may have accepted a mail whose response was lost.
 */
export type MailOutcome = 'sent' | 'recipient-rejected' | 'unavailable';

/**
 * Sends e-mails. It stores nothing and repeats nothing: the caller shows the failure to the user, or repeats the mail
 * from its own table. The counter `svc.mails` has the outcomes `sent`, `recipient-rejected` and `unavailable`.
 */
export class Mailer {
  private readonly outcomes = createCounter('svc.mails');
  private inFlight = 0;

  /** @param sender undefined if mails are off */
  constructor(
    private readonly sender: { readonly from: string; readonly transport: MailTransport } | undefined,
    private readonly clock: Clock,
    private readonly log: ServiceLog,
  ) {}

  /** Whether mails are sent. If not, a feature that needs mails is not offered. */
  get isOn(): boolean {
    return this.sender !== undefined;
  }

  /**
   * Hands the mail to the SMTP server, within 10 s. `sent`: the server delivers it later, so the address may still be
   * wrong.
   */
  async send(mail: Mail): Promise<MailOutcome> {
    checkMail(mail);
    if (this.sender === undefined) return 'unavailable';
    if (this.inFlight >= MAX_CONCURRENT_MAILS) return this.fail('unavailable', { code: 'EBUSY' });
    this.inFlight++;
    try {
      const { transport, from } = this.sender;
      await transport(toMessage(mail, from, this.clock.now()), AbortSignal.timeout(SEND_TIMEOUT_MS));
      this.outcomes.add(1, { outcome: 'sent' });
      return 'sent';
    } catch (error) {
      return this.fail(classifyFailure(error), error);
    } finally {
      this.inFlight--;
    }
  }

  /** The log contains only codes, because messages of the server contain the recipient's address. */
  private fail(failure: MailOutcome, error: unknown): MailOutcome {
    this.outcomes.add(1, { outcome: failure });
    const { code, responseCode, command } = error as { code?: unknown; responseCode?: unknown; command?: unknown };
    this.log.warn({ failure, code, responseCode, command }, 'mail not sent');
    return failure;
  }
}

/** Provides the {@link Mailer} from a service's configuration. */
export function provideMailer<C extends MailConfig>(config: Type<C>): FactoryProvider<Mailer> {
  return {
    provide: Mailer,
    inject: [config, Clock, SERVICE_LOG],
    useFactory: (values: C, clock: Clock, log: ServiceLog) => {
      const settings = readMailSettings(values);
      if (settings === undefined) return new Mailer(undefined, clock, log);
      const transport = hasServer(settings)
        ? createSmtpTransport(settings.server)
        : createFolderTransport(settings.folder, clock, log);
      return new Mailer({ from: settings.from, transport }, clock, log);
    },
  };
}

function toMessage(mail: Mail, from: string, now: Date): Message {
  return {
    from: { name: mail.senderName ?? '', address: from },
    to: { name: '', address: mail.to },
    replyTo: mail.replyTo === undefined ? undefined : { name: '', address: mail.replyTo },
    envelope: { from, to: [mail.to] },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    date: now,
    // Programs that answer mails automatically do not answer this one (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': mail.language },
  };
}

function classifyFailure(error: unknown): MailOutcome {
  const { responseCode, command } = error as { responseCode?: number; command?: string };
  const isRejected = command === 'RCPT TO' && responseCode !== undefined && responseCode >= 500;
  return isRejected ? 'recipient-rejected' : 'unavailable';
}
