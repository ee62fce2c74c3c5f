import * as fc from 'fast-check';
import { checkMail, type Mail, MAX_MAIL_BYTES, MAX_MAIL_LINE, toMailLine } from './mail.js';

const MAIL: Mail = { to: 'thandi@example.com', subject: 'Receipt', text: 'Paid', html: '<p>Paid</p>', language: 'en' };

test('accepts a mail at its limits', () => {
  const half = 'x'.repeat(MAX_MAIL_BYTES / 2);
  const mail = { ...MAIL, subject: 's'.repeat(MAX_MAIL_LINE), senderName: 'Karoo Books', text: half, html: half };
  expect(() => checkMail({ ...mail, replyTo: 'help@karoo.example', language: 'en-ZA' })).not.toThrow();
});

test.each<[string, Partial<Mail>, string]>([
  ['two recipients', { to: 'a@example.com, b@example.com' }, 'recipient'],
  ['a recipient with a name', { to: 'Thandi <thandi@example.com>' }, 'recipient'],
  ['a recipient with a header', { to: 'thandi@example.com\r\nBcc: all@example.com' }, 'recipient'],
  ['a reply address with a header', { replyTo: 'a@example.com\nX: y' }, 'replies'],
  ['a subject with a header', { subject: 'Receipt\r\nBcc: all@example.com' }, 'subject'],
  ['a subject with a Unicode line separator', { subject: 'Receipt\u2028Bcc: all@example.com' }, 'subject'],
  ['an empty subject', { subject: '' }, 'subject'],
  ['a long subject', { subject: 's'.repeat(MAX_MAIL_LINE + 1) }, 'subject'],
  ['a lone surrogate', { subject: 'Receipt \ud83d' }, 'subject'],
  ['a name with a header', { senderName: 'Karoo\nBcc: all@example.com' }, "sender's name"],
  ['a language with a header', { language: 'en\r\nBcc: all@example.com' }, 'language'],
  ['one byte too much', { text: 'x'.repeat(MAX_MAIL_BYTES), html: 'y' }, 'bytes'],
  ['more bytes than characters', { text: 'é'.repeat(MAX_MAIL_BYTES / 2), html: 'y' }, 'bytes'],
])('refuses %s', (_name, change, message) => {
  expect(() => checkMail({ ...MAIL, ...change })).toThrow(message);
});

test('turns any text with a visible character into a valid line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }), (text) => {
      const line = toMailLine(`x${text}`);
      expect(() => checkMail({ ...MAIL, subject: line, senderName: line })).not.toThrow();
    }),
  );
});

test('cuts off a long line, but no half character', () => {
  expect(toMailLine(`${'x'.repeat(198)}😀😀`)).toBe(`${'x'.repeat(198)}…`);
  expect(toMailLine(' Order\r\n 12 ')).toBe('Order 12');
});
