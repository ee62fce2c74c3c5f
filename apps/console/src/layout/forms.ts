import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { MAX_PASSWORD_LENGTH } from '@svc/contracts';
import type { FastifyInstance } from 'fastify';

/** Largest form of a page without a file. */
const MAX_FORM_BYTES = 16 * 1024;
/** Largest form with a file: the file, and the draft of a logo. The reverse proxy accepts 512 KiB. */
const MAX_UPLOAD_BYTES = 448 * 1024;

/** The fields of a form. If a form contains a field several times, the last value is used. */
export type Form = Readonly<Record<string, string | undefined>>;

/** The files of forms, beside their fields: a handler that expects a text never gets a file. */
const filesOfForms = new WeakMap<object, ReadonlyMap<string, UploadedFile>>();

/** A file of a form. */
export class UploadedFile {
  /** @param type media type, as the browser derived it from the name of the file */
  constructor(
    readonly type: string,
    readonly bytes: Buffer,
  ) {}
}

/** The body of a form that is too large. It was not kept. */
export class OversizedForm {}

export function readForms(fastify: FastifyInstance): void {
  fastify.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
  fastify.addContentTypeParser(
    'multipart/form-data',
    ({ headers }: { headers: IncomingHttpHeaders }, body: IncomingMessage) => readUpload(headers, body),
  );
}

/** Reads a form with files. The size is checked before anything is read. */
async function readUpload(
  { 'content-length': length, 'content-type': type = '' }: IncomingHttpHeaders,
  body: IncomingMessage,
): Promise<Form | OversizedForm> {
  // A browser always sends the length, and the HTTP server reads no more than that.
  if (length === undefined || Number(length) > MAX_UPLOAD_BYTES) {
    body.resume();
    return new OversizedForm();
  }
  const response = new Response(await buffer(body), { headers: { 'content-type': type } });
  const form = await response.formData().catch(() => new FormData());
  const fields: Record<string, string> = {};
  const files = new Map<string, UploadedFile>();
  for (const [name, value] of form)
    if (typeof value === 'string') fields[name] = value;
    else files.set(name, new UploadedFile(value.type, Buffer.from(await value.arrayBuffer())));
  filesOfForms.set(fields, files);
  return fields;
}

/** The file of a field; undefined if the person has chosen none. */
export function readFile(form: unknown, name: string): UploadedFile | undefined {
  const file = filesOfForms.get(form as Form)?.get(name);
  return file !== undefined && file.bytes.length > 0 ? file : undefined;
}

/**
 * A field without surrounding spaces; undefined if it is missing, empty or longer than `maxLength`, and with U+0000, which
 * PostgreSQL cannot store.
 */
export function readField(form: unknown, name: string, maxLength: number): string | undefined {
  const value = (form as Form | undefined)?.[name];
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text.length > maxLength || text.includes('\0') ? undefined : text;
}

/** The password of a form, unchanged. A longer one than allowed is refused by identity, which counts its characters. */
export function readPassword(form: unknown): string {
  const { password } = (form ?? {}) as { password?: unknown };
  return typeof password === 'string' ? password.slice(0, MAX_PASSWORD_LENGTH + 1) : '';
}
