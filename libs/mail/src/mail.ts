import { isEmailAddress } from '@svc/contracts';

/** An e-mail to one recipient. It never contains card data, except the last four digits of a card number. */
export interface Mail {
  /** One address, without a name. */
  readonly to: string;
  /** One line of at most 200 characters: see {@link toMailLine}. */
  readonly subject: string;
  readonly text: string;
  /** The same content as `text`. Both together have at most 64 KiB. */
  readonly html: string;
  /** Language of the content, for example `af`. */
  readonly language: string;
  /** Name of the sender, before the address of SVC_MAIL_FROM. One line of at most 200 characters. */
  readonly senderName?: string | undefined;
  /** The address that receives replies. */
  readonly replyTo?: string | undefined;
}

/** Maximum length of the subject and of the sender's name, in characters. */
export const MAX_MAIL_LINE = 200;
/** Maximum size of both parts together. */
export const MAX_MAIL_BYTES = 64 * 1024;

/** Control characters and line separators, which could begin another header. */
const LINE_BREAKERS = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/**
 * Throws an error that names the invalid field, and contains no value of it. A caller validates the address of a user
 * before, and shortens other texts with {@link toMailLine}.
 */
export function checkMail({ to, subject, text, html, language, senderName, replyTo }: Mail): void {
  if (!isEmailAddress(to)) throw new TypeError('The recipient of the mail is not an e-mail address.');
  if (replyTo !== undefined && !isEmailAddress(replyTo))
    throw new TypeError('The address for replies is not an e-mail address.');
  if (!isMailLine(subject)) throw new TypeError(`The subject is not one line of 1 to ${MAX_MAIL_LINE} characters.`);
  if (senderName !== undefined && !isMailLine(senderName))
    throw new TypeError(`The sender's name is not one line of 1 to ${MAX_MAIL_LINE} characters.`);
  if (!/^[a-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}$/.test(language))
    throw new TypeError('The language is not a language tag.');
  if (Buffer.byteLength(text) + Buffer.byteLength(html) > MAX_MAIL_BYTES)
    throw new TypeError(`The mail has more than ${MAX_MAIL_BYTES} bytes.`);
}

function isMailLine(text: string): boolean {
  return text.length > 0 && text.length <= MAX_MAIL_LINE && text.isWellFormed() && !LINE_BREAKERS.test(text);
}

/** One line for a subject or a name: other characters become spaces, and a long text is cut off with an ellipsis. */
export function toMailLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  if (line.length <= MAX_MAIL_LINE) return line;
  return `${line.slice(0, MAX_MAIL_LINE - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
