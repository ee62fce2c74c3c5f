import type { ConnectionOptions } from 'node:tls';
import { createTransport } from 'nodemailer';
import type { MailSettings, SmtpServer } from './mail-config.js';

/** To establish the connection, and then until the server's greeting. */
const CONNECT_TIMEOUT_MS = 3_000;
/** Without any response during the transfer. */
const IDLE_TIMEOUT_MS = 5_000;

/** A message for Nodemailer. Nodemailer must not parse addresses, so that an address remains one address. */
export interface Message {
  readonly from: { readonly name: string; readonly address: string };
  readonly to: { readonly name: string; readonly address: string };
  readonly replyTo: { readonly name: string; readonly address: string } | undefined;
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly date: Date;
  readonly headers: Readonly<Record<string, string>>;
}

/** Hands a message to the next system. The signal ends the transfer. */
export type MailTransport = (message: Message, signal: AbortSignal) => Promise<void>;

/** A message contains only its texts: Nodemailer reads no files and opens no URLs for it. */
const TEXTS_ONLY = { disableFileAccess: true, disableUrlAccess: true, xMailer: false } as const;

/**
 * Each mail has its own connection. Mails are rare, and a connection that is kept would often be closed by the server
 * when the next mail uses it.
 *
 * @param tls for tests, which have their own certificate authority
 */
export function createSmtpTransport(server: SmtpServer, tls: ConnectionOptions = {}): MailTransport {
  const transporter = createTransport({
    host: server.host,
    port: server.port,
    secure: server.isTls,
    requireTLS: server.requiresStartTls,
    // The certificate of a server on this machine is often self-signed, and the connection leaves no machine.
    ignoreTLS: !server.requiresStartTls,
    ...(server.user === undefined ? {} : { auth: { user: server.user, pass: server.password } }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: IDLE_TIMEOUT_MS,
    tls: { minVersion: 'TLSv1.2', ...tls },
    logger: false,
  });
  return async (message, signal) => {
    await transporter.sendMail({ ...toOptions(message), signal });
  };
}

/** The text of a mail file (RFC 5322). */
export async function composeMail(message: Message): Promise<Buffer> {
  const transporter = createTransport({ streamTransport: true, buffer: true, newline: 'unix', logger: false });
  const { message: composed } = await transporter.sendMail(toOptions(message));
  return composed as Buffer;
}

function toOptions({ envelope, ...message }: Message) {
  return { ...message, envelope: { from: envelope.from, to: [...envelope.to] }, ...TEXTS_ONLY };
}

export function hasServer(settings: MailSettings): settings is MailSettings & { readonly server: SmtpServer } {
  return 'server' in settings;
}
