import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@svc/service';
import { MailConfig, readMailSettings } from './mail-config.js';

const FROM = { SVC_MAIL_FROM: 'payments@svc.example' };
const folder = mkdtempSync(join(tmpdir(), 'svc-mail-'));

function read(variables: Record<string, string>) {
  const base = { SVC_DATABASE_URL: 'postgres://svc@127.0.0.1/svc', SVC_ENVIRONMENT: 'production' };
  return readMailSettings(loadConfig(MailConfig, { ...base, ...variables }));
}

test('mails are off without a server', () => {
  expect(read({})).toBeUndefined();
  expect(read(FROM)).toBeUndefined();
});

test('reads a server with TLS, a login and a default port', () => {
  expect(read({ ...FROM, SVC_SMTP_URL: 'smtps://svc%40example.com:p%3Ass@mail.example' })).toEqual({
    from: 'payments@svc.example',
    server: {
      host: 'mail.example',
      port: 465,
      isTls: true,
      requiresStartTls: false,
      user: 'svc@example.com',
      password: 'p:ss',
    },
  });
});

test.each([
  ['smtp://mail.example', 'mail.example', 587, true],
  ['smtp://192.0.2.7:2525/', '192.0.2.7', 2525, true],
  ['smtp://[2001:db8::7]', '2001:db8::7', 587, true],
  ['smtp://0.0.0.0', '0.0.0.0', 587, true],
  ['smtp://127.0.0.1:1025', '127.0.0.1', 1025, false],
  ['smtp://localhost', 'localhost', 587, false],
  ['smtp://[::1]:25', '::1', 25, false],
])('%s requires STARTTLS outside loopback', (url, host, port, requiresStartTls) => {
  expect(read({ ...FROM, SVC_SMTP_URL: url })).toMatchObject({
    server: { host, port, isTls: false, requiresStartTls },
  });
});

test('reads the URL from a file', () => {
  const file = join(folder, 'url');
  writeFileSync(file, 'smtps://mail.example:2465\n');
  expect(read({ ...FROM, SVC_SMTP_URL_FILE: file })).toMatchObject({ server: { host: 'mail.example', port: 2465 } });
});

test('writes into a folder in development only', () => {
  const variables = { ...FROM, SVC_MAIL_FOLDER: '/data/mail' };
  expect(read({ ...variables, SVC_ENVIRONMENT: 'development' })).toEqual({
    from: 'payments@svc.example',
    folder: '/data/mail',
  });
  expect(() => read(variables)).toThrow('SVC_MAIL_FOLDER is only for development.');
});

const URL_RULE = 'SVC_SMTP_URL must be smtps://';
test.each<[string, Record<string, string>, string]>([
  ['no sender', { SVC_SMTP_URL: 'smtps://mail.example' }, 'SVC_MAIL_FROM is required'],
  ['a sender with a name', { SVC_MAIL_FROM: 'Svc <payments@svc.example>' }, 'SVC_MAIL_FROM must be'],
  ['both', { ...FROM, SVC_SMTP_URL: 'smtps://a.example', SVC_SMTP_URL_FILE: '/x' }, 'Only one of'],
  ['no file', { ...FROM, SVC_SMTP_URL_FILE: join(folder, 'missing') }, 'cannot be read'],
  [
    'server and folder',
    { ...FROM, SVC_ENVIRONMENT: 'development', SVC_SMTP_URL: 'smtps://a.example', SVC_MAIL_FOLDER: '/x' },
    'Only one of',
  ],
  ['another protocol', { ...FROM, SVC_SMTP_URL: 'https://mail.example' }, URL_RULE],
  ['no host', { ...FROM, SVC_SMTP_URL: 'smtps://' }, URL_RULE],
  ['an option', { ...FROM, SVC_SMTP_URL: 'smtps://mail.example?tls.rejectUnauthorized=false' }, URL_RULE],
  ['a path', { ...FROM, SVC_SMTP_URL: 'smtps://mail.example/x' }, URL_RULE],
  ['a fragment', { ...FROM, SVC_SMTP_URL: 'smtps://mail.example#x' }, URL_RULE],
  ['a user without a password', { ...FROM, SVC_SMTP_URL: 'smtps://user@mail.example' }, URL_RULE],
  ['a broken password', { ...FROM, SVC_SMTP_URL: 'smtps://user:secret%E0@mail.example' }, 'percent-encoded'],
])('refuses %s, without the secret in the message', (_name, variables, message) => {
  expect(() => read(variables)).toThrow(message);
  expect(() => read(variables)).not.toThrow(/secret/);
});
