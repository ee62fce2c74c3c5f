import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Operation, Request } from '@svc/testing/documented-api';
import type { ApiResponse } from './main-api.js';

interface Example {
  readonly request?: unknown;
  readonly response?: unknown;
}

/**
 * Records an example for each operation and status: the first request and response. Replaces values that differ between
 * runs by fixed values.
 */
export class ExampleRecorder {
  private readonly byOperation = new Map<string, Map<number, Example>>();

  /** @param name name of the document, such as `partner` */
  record(name: string, { operationId, responses }: Operation, { body }: Request, { status, text }: ApiResponse): void {
    const key = `${name}.${operationId}`;
    const examples = this.byOperation.get(key) ?? new Map<number, Example>();
    this.byOperation.set(key, examples);
    const isSuccess = status < 300;
    if (
      examples.has(status) ||
      !Object.hasOwn(responses, String(status)) ||
      (text !== '' && !text.startsWith('{') && !text.startsWith('['))
    )
      return;
    // A refused request contains random generated data, which is not a useful example.
    const request = isSuccess && body !== undefined ? { request: JSON.parse(body) as unknown } : {};
    const isUsefulExample = isSuccess || status === 409 || status === 404 || status === 422;
    const response = text === '' || !isUsefulExample ? {} : { response: JSON.parse(text) as unknown };
    const example = withStableValues({ ...request, ...response });
    if (Object.keys(example).length > 0) examples.set(status, example);
  }

  /** Writes all examples to a file. Examples in the file of operations that were not called stay unchanged. */
  write(file: string): void {
    const existing = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
    const recorded = [...this.byOperation].map(([operation, examples]) => [
      operation,
      Object.fromEntries([...examples].sort(([a], [b]) => a - b)),
    ]);
    const all = Object.entries({ ...existing, ...(Object.fromEntries(recorded) as object) }).sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  }
}

const STABLE_VALUES: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-03-01T10:00:00.000Z'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOiJFUzI1NiJ9.eyJvcmciOiI.c2lnbmF0dXJl'],
  [/svc_(test|live)_([a-z]+)_[\w-]+/g, 'svc_$1_$2_sample'],
  [/whsec_[\w+/=-]{20,}/g, 'whsec_c2FtcGxl'],
  [/"[0-9a-f]{64}"/g, `"${'0a1b2c3d'.repeat(8)}"`],
  [/\b\d{20}\b/g, '01234567890123456789'],
  [/\b[0-9A-HJKMNP-TV-Z]{18}\b/g, '1H2J3K4M5N6P7Q8R9S'],
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:7304'],
  [/"(x|y|token)":"[\w-]{20,}"/g, '"$1":"c2FtcGxlIHNhbXBsZSBzYW1wbGU"'],
];

function withStableValues<T>(example: T): T {
  const ids = new Map<string, string>();
  const numbered = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `0199a1b2-c3d4-7e5f-8a9b-${String(ids.size + 1).padStart(12, '0')}`);
    return ids.get(id)!;
  };
  let text = JSON.stringify(example).replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, numbered);
  for (const [pattern, replacement] of STABLE_VALUES) text = text.replaceAll(pattern, replacement);
  // One element of a list is enough; the length of a list depends on other tests.
  return JSON.parse(text, (_, value: unknown) => (Array.isArray(value) ? value.slice(0, 1) : value)) as T;
}
