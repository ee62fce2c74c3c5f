import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { waitUntil } from '../wait-until.js';

export interface ReceivedMail {
  /** Addresses of the SMTP commands, which decide the delivery. */
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly from: { readonly name: string; readonly address: string };
  readonly to: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Names in lower case, in the order of the mail. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  /** The whole mail as it was transferred. */
  readonly source: string;
}

/** A real SMTP server on a free port of the loopback interface, which keeps the mails that it receives. */
export class SmtpInbox implements AsyncDisposable {
  readonly mails: ReceivedMail[] = [];
  private readonly server: SMTPServer;

  private constructor(options: SMTPServerOptions) {
    this.server = new SMTPServer({
      // By default any client may send without a login, and without TLS.
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      closeTimeout: 100,
      onData: (stream, session, callback) => {
        void this.receive(stream, session.envelope).then(
          () => callback(),
          (error: unknown) => callback(error as Error),
        );
      },
      ...options,
    });
    // A client that closes its connection early is an error of the server, but not of the test.
    this.server.on('error', () => undefined);
  }

  /** @param options replace those of a server without TLS that accepts every mail */
  static async start(options: SMTPServerOptions = {}, host = '127.0.0.1'): Promise<SmtpInbox> {
    const inbox = new SmtpInbox(options);
    await once(inbox.server.listen(0, host), 'listening');
    return inbox;
  }

  get port(): number {
    return (this.server.server.address() as AddressInfo).port;
  }

  /** The value of `SVC_SMTP_URL`. */
  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  /** The first mail to this address that has arrived, or arrives within 10 s. */
  async waitForMail(to: string): Promise<ReceivedMail> {
    return waitUntil(`a mail to ${to}`, 10_000, async () =>
      this.mails.find(({ envelope }) => envelope.to.includes(to)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => void this.server.close(() => resolve()));
  }

  private async receive(stream: NodeJS.ReadableStream, envelope: SmtpEnvelope): Promise<void> {
    const source = await buffer(stream);
    const mail = await PostalMime.parse(source);
    const addresses = (list: readonly { address?: string | undefined }[] | undefined): string[] =>
      (list ?? []).map(({ address }) => address ?? '');
    this.mails.push({
      envelope: { from: envelope.mailFrom ? envelope.mailFrom.address : '', to: addresses(envelope.rcptTo) },
      from: { name: mail.from?.name ?? '', address: mail.from?.address ?? '' },
      to: addresses(mail.to),
      replyTo: addresses(mail.replyTo),
      subject: mail.subject ?? '',
      text: mail.text ?? '',
      html: mail.html ?? '',
      headers: mail.headers.map(({ key, value }) => ({ key, value })),
      source: source.toString(),
    });
  }
}

interface SmtpEnvelope {
  readonly mailFrom: false | { readonly address: string };
  readonly rcptTo: readonly { readonly address: string }[];
}
