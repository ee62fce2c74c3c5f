import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, newLog } from '@svc/service';
import { ManualClock, SmtpInbox } from '@svc/testing';
import { ensureCertificate } from '../../../tools/svc/lan/certificate.ts';
import type { Mail } from './mail.js';
import { MailConfig, type SmtpServer } from './mail-config.js';
import { createSmtpTransport } from './mail-transports.js';
import { Mailer, provideMailer } from './mailer.js';

const FROM = 'payments@svc.example';
const MAIL: Mail = {
  to: 'thandi@example.com',
  subject: 'Kwitansie vir bestelling № 12',
  text: 'Betaal: R 1 234,50\nhttps://pay.svc.example/r/1',
  html: '<p>Betaal: <b>R 1 234,50</b></p>',
  language: 'af',
  senderName: 'Karoo "Books", Ltd',
  replyTo: 'help@karoo.example',
};
const folder = mkdtempSync(join(tmpdir(), 'svc-mailer-'));
const log = newLog('test', 'silent');

/** The mailer that a service gets with these variables. */
function createMailer(variables: Record<string, string>, lines: object[] = []): Mailer {
  const config = loadConfig(MailConfig, {
    SVC_DATABASE_URL: 'postgres://svc@127.0.0.1/svc',
    SVC_ENVIRONMENT: 'development',
    SVC_MAIL_FROM: FROM,
    ...variables,
  });
  const recordingLog = Object.assign(Object.create(log) as typeof log, {
    warn: (line: object) => lines.push(line),
    info: (line: object) => lines.push(line),
  });
  return provideMailer(MailConfig).useFactory(config, new ManualClock(), recordingLog) as Mailer;
}

test('a real server receives the whole mail', async () => {
  await using inbox = await SmtpInbox.start();
  const mailer = createMailer({ SVC_SMTP_URL: inbox.url });
  expect(mailer.isOn).toBe(true);
  await expect(mailer.send(MAIL)).resolves.toBe('sent');
  const mail = await inbox.waitForMail(MAIL.to);
  expect(mail).toMatchObject({
    envelope: { from: FROM, to: [MAIL.to] },
    from: { name: 'Karoo "Books", Ltd', address: FROM },
    to: [MAIL.to],
    replyTo: ['help@karoo.example'],
    subject: MAIL.subject,
    html: expect.stringContaining(MAIL.html) as string,
  });
  expect(mail.text.trim()).toBe(MAIL.text);
  const headers = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]));
  expect(headers).toMatchObject({
    date: 'Sun, 01 Mar 2026 10:00:00 +0000',
    'auto-submitted': 'auto-generated',
    'content-language': 'af',
    'mime-version': '1.0',
  });
  expect(Object.keys(headers).sort()).toEqual([
    'auto-submitted',
    'content-language',
    'content-type',
    'date',
    'from',
    'message-id',
    'mime-version',
    'reply-to',
    'subject',
    'to',
  ]);
});

test('an address that a list parser would split remains one recipient', async () => {
  await using inbox = await SmtpInbox.start();
  const to = '"a,b"@example.com';
  await createMailer({ SVC_SMTP_URL: inbox.url }).send({ ...MAIL, to });
  expect(inbox.mails.map(({ envelope }) => envelope.to)).toEqual([[to]]);
});

test('logs in with the user and password of the URL', async () => {
  const logins: unknown[] = [];
  await using inbox = await SmtpInbox.start({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, callback) => {
      logins.push([username, password]);
      callback(null, { user: username });
    },
  });
  await createMailer({ SVC_SMTP_URL: `smtp://svc%40a:p%3Ass@127.0.0.1:${inbox.port}` }).send(MAIL);
  expect(logins).toEqual([['svc@a', 'p:ss']]);
  expect(inbox.mails).toHaveLength(1);
});

test('without a server mails are off', async () => {
  const mailer = createMailer({});
  expect(mailer.isOn).toBe(false);
  await expect(mailer.send(MAIL)).resolves.toBe('unavailable');
});

test('a rejected recipient differs from a server that is busy, and the log contains no address', async () => {
  const codes = [550, 451];
  await using inbox = await SmtpInbox.start({
    onRcptTo: ({ address }, _session, callback) =>
      callback(Object.assign(new Error(`${address} is unknown`), { responseCode: codes.shift() })),
  });
  const lines: object[] = [];
  const mailer = createMailer({ SVC_SMTP_URL: inbox.url }, lines);
  await expect(mailer.send(MAIL)).resolves.toBe('recipient-rejected');
  await expect(mailer.send(MAIL)).resolves.toBe('unavailable');
  expect(lines).toEqual([
    { failure: 'recipient-rejected', code: 'EENVELOPE', responseCode: 550, command: 'RCPT TO' },
    { failure: 'unavailable', code: 'EENVELOPE', responseCode: 451, command: 'RCPT TO' },
  ]);
});

test('no server listens', async () => {
  const inbox = await SmtpInbox.start();
  const { url } = inbox;
  await inbox[Symbol.asyncDispose]();
  await expect(createMailer({ SVC_SMTP_URL: url }).send(MAIL)).resolves.toBe('unavailable');
});

test('no more than 20 mails at the same time, and a slot is free again after a failure', async () => {
  const { promise: aborted, resolve: abort } = Promise.withResolvers<never>();
  let calls = 0;
  const transport = async (): Promise<void> => {
    if (++calls <= 20) await aborted;
  };
  const mailer = new Mailer({ from: FROM, transport }, new ManualClock(), log);
  const sent = Array.from({ length: 20 }, () => mailer.send(MAIL));
  await expect(mailer.send(MAIL)).resolves.toBe('unavailable');
  expect(calls).toBe(20);
  abort(Promise.reject(new Error('lost')));
  await Promise.allSettled(sent);
  await expect(mailer.send(MAIL)).resolves.toBe('sent');
});

test('the deadline ends the connection to a server that does not respond', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connected = once(server, 'connection') as Promise<[import('node:net').Socket]>;
  const deadline = new AbortController();
  const transport = createSmtpTransport(serverAt(port));
  const sending = transport(message(), deadline.signal);
  const [socket] = await connected;
  const closed = once(socket.resume(), 'close');
  deadline.abort(new Error('10 s'));
  await expect(sending).rejects.toMatchObject({ code: 'EABORT' });
  await closed;
  server.close();
});

describe('TLS', () => {
  const files = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
  let tls: { readonly cert: Buffer; readonly key: Buffer };
  beforeAll(async () => {
    await ensureCertificate(files, '127.0.0.1', new Date());
    tls = { cert: readFileSync(files.certificate), key: readFileSync(files.key) };
  });
  const signal = new AbortController().signal;

  test('refuses a server without STARTTLS outside loopback', async () => {
    await using inbox = await SmtpInbox.start({}, '0.0.0.0');
    const mailer = createMailer({ SVC_SMTP_URL: `smtp://0.0.0.0:${inbox.port}` });
    await expect(mailer.send(MAIL)).resolves.toBe('unavailable');
    expect(inbox.mails).toEqual([]);
  });

  test('encrypts with STARTTLS, and verifies the certificate', async () => {
    await using inbox = await SmtpInbox.start({ ...tls, disabledCommands: [] });
    const server = { ...serverAt(inbox.port), requiresStartTls: true };
    await expect(createSmtpTransport(server)(message(), signal)).rejects.toMatchObject({ code: 'ESOCKET' });
    expect(inbox.mails).toEqual([]);
    await createSmtpTransport(server, { ca: tls.cert })(message(), signal);
    expect(inbox.mails).toHaveLength(1);
  });

  test('smtps encrypts from the beginning, and verifies the certificate', async () => {
    await using inbox = await SmtpInbox.start({ ...tls, secure: true });
    const server = { ...serverAt(inbox.port), isTls: true };
    await expect(createSmtpTransport(server)(message(), signal)).rejects.toMatchObject({ code: 'ESOCKET' });
    await createSmtpTransport(server, { ca: tls.cert })(message(), signal);
    expect(inbox.mails).toHaveLength(1);
  });
});

describe('the folder of development', () => {
  test('contains each mail as a file, and the log its path and first link', async () => {
    const mails = join(folder, 'mails');
    const lines: object[] = [];
    await createMailer({ SVC_MAIL_FOLDER: mails }, lines).send(MAIL);
    const [name = '', ...others] = readdirSync(mails);
    expect(others).toEqual([]);
    expect(name).toMatch(/^2026-03-01T10-00-00\.000Z-[0-9a-f]{8}\.eml$/);
    const file = join(mails, name);
    expect(readFileSync(file, 'utf8')).toMatch(/\nFrom: "Karoo .+\nTo: thandi@example\.com\n/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(lines).toEqual([{ file, link: 'https://pay.svc.example/r/1' }]);
  });

  test('has at most 200 files: the oldest are deleted', async () => {
    const mails = mkdtempSync(join(folder, 'full-'));
    for (let index = 0; index < 200; index++)
      writeFileSync(join(mails, `2025-01-01T00-00-00.${String(index).padStart(3, '0')}Z-x.eml`), '');
    writeFileSync(join(mails, 'notes.txt'), '');
    await createMailer({ SVC_MAIL_FOLDER: mails }).send(MAIL);
    const names = readdirSync(mails);
    expect(names).toHaveLength(201);
    expect(names).toContain('notes.txt');
    expect(names).not.toContain('2025-01-01T00-00-00.000Z-x.eml');
  });
});

function serverAt(port: number): SmtpServer {
  return { host: '127.0.0.1', port, isTls: false, requiresStartTls: false, user: undefined, password: undefined };
}

function message() {
  const address = { name: '', address: MAIL.to };
  return {
    ...MAIL,
    from: { name: '', address: FROM },
    to: address,
    replyTo: undefined,
    envelope: { from: FROM, to: [MAIL.to] },
    date: new Date(0),
    headers: {},
  };
}
