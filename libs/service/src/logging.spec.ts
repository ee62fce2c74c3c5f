import { createPrivateKey } from 'node:crypto';
import { DomainError } from '@svc/kernel';
import { compactDecrypt, importJWK, jwtVerify } from 'jose';
import { QueryFailedError } from 'typeorm';
import { request } from 'undici';
import { describeError, nestLog } from './logging.js';

const SECRET = '4242424242424242';

function newQueryFailedError(code: string, message: string): QueryFailedError {
  const driverError = Object.assign(new Error(message), {
    code,
    detail: `Key (number)=(${SECRET}) exists`,
    where: SECRET,
  });
  return new QueryFailedError(`INSERT INTO cards VALUES ('${SECRET}')`, [SECRET], driverError);
}

test('the log entry of a failed query contains no statement, no parameters and no detail', () => {
  const described = describeError(
    newQueryFailedError('23505', 'duplicate key value violates unique constraint "cards_pkey"'),
  );
  expect(described).toMatchObject({
    type: 'QueryFailedError',
    message: 'duplicate key value violates unique constraint "cards_pkey"',
    sqlState: '23505',
  });
  expect(JSON.stringify(described)).not.toContain(SECRET);
});

test('a PostgreSQL message that contains the rejected value is replaced, also in the stack and in the causes of an error', () => {
  const queryError = newQueryFailedError('22P02', `invalid input syntax for type uuid: "${SECRET}"`);
  const described = describeError(new DomainError('internal', { cause: new Error('outer', { cause: queryError }) }));
  expect(described).toMatchObject({ cause: { cause: { message: 'PostgreSQL refused a value (SQLSTATE 22P02)' } } });
  expect(JSON.stringify(described)).not.toContain(SECRET);
});

test('describeError returns only the type, message, code and stack of an error that is not from PostgreSQL', () => {
  const error = Object.assign(new Error('socket'), { code: 'ECONNREFUSED', request: { body: SECRET }, config: SECRET });
  expect(describeError(error)).toEqual({
    type: 'Error',
    message: 'socket',
    code: 'ECONNREFUSED',
    stack: expect.stringContaining('logging.spec') as string,
  });
  expect(describeError(SECRET)).toEqual({ type: 'string' });
});

describe('an error whose message repeats the refused value', () => {
  const NAME = 'Thandi Nkosi';
  /** Each function throws the error of a real parser, validator or library for a value with the secret. */
  const FAILURES: Readonly<Record<string, (secret: string) => unknown>> = {
    'JSON.parse': (secret) => JSON.parse(`${secret} and more`),
    'JSON.parse of a text that ends too early': (secret) => JSON.parse(`{"cardNumber":"${secret}"`),
    'JSON.parse of a key without quotes': (secret) => JSON.parse(`{${secret}:1}`),
    BigInt: (secret) => BigInt(`${secret}x`),
    RegExp: (secret) => new RegExp(`${secret}(`),
    URL: (secret) => new URL(secret),
    'URL without a host': (secret) => new URL(`https://${secret} x/`),
    fetch: (secret) => fetch(`/${secret}`),
    'an argument of the wrong type': (secret) => Buffer.alloc(secret as unknown as number),
    'an argument with a wrong value': (secret) => Buffer.from('a').fill('a', secret as BufferEncoding),
    'an encoding that does not exist': (secret) => Buffer.from('a').toString(secret as BufferEncoding),
    'the operator in': (secret) => 'a' in (secret as unknown as object),
    'a property of a string': (secret) => {
      (secret as unknown as { a: number }).a = 1;
    },
    createPrivateKey: (secret) => createPrivateKey(secret),
    'createPrivateKey of a JWK': (secret) => createPrivateKey({ key: { kty: 'EC', crv: secret }, format: 'jwk' }),
    'a header of undici': (secret) => request('http://127.0.0.1:1/', { headers: { 'x-name': `${secret}\n` } }),
    'a method of undici': (secret) => request('http://127.0.0.1:1/', { method: secret as 'GET' }),
    'a URL of undici': (secret) => request(secret),
    importJWK: (secret) => importJWK({ kty: 'EC', crv: secret, x: secret, y: secret }, 'ES256'),
    jwtVerify: (secret) => jwtVerify(secret, new Uint8Array(32)),
    compactDecrypt: (secret) => compactDecrypt(`${secret}....`, new Uint8Array(32)),
  };

  test.each(Object.keys(FAILURES).flatMap((failure) => [SECRET, NAME].map((secret) => [failure, secret] as const)))(
    'is logged without the value: %s, %s',
    async (failure, secret) => {
      const error: unknown = await Promise.resolve()
        .then(() => FAILURES[failure]!(secret))
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      expect(error).toBeDefined();
      const text = JSON.stringify(describeError(error));
      const quoted = [secret, secret.slice(0, 8), ...secret.split(' ')].filter((part) => text.includes(part));
      expect([text, quoted]).toEqual([text, []]);
    },
  );

  test.each([
    '4242424242424242',
    '4242 4242 4242 4242',
    '4242-4242-4242-4242',
    '4242.4242.4242.4242',
    '4242_4242_4242_4242',
    '4242  4242  4242  4242',
    '4242 - 4242 - 4242 - 4242',
    '4242\u00a04242\u00a04242\u00a04242',
    '4.2.4.2.4.2.4.2.4.2.4.2.4.2.4.2',
    '424.242.424.242',
    '12345678901234567890',
  ])('does not contain the number %s, whoever wrote the message', (number) => {
    for (const [before, after] of [
      ['', ''],
      ['card', 'a'],
      ['-', '-x'],
      ['"', '"'],
      ['01890000-0000-7000-8000-00000000000a ', ' 127.0.0.1:8080'],
    ] as const) {
      const described = describeError(new Error(`the value ${before}${number}${after} is not accepted`));
      expect(described).toMatchObject({ message: `the value ${before}[number]${after} is not accepted` });
      expect(JSON.stringify(described)).not.toContain(number);
    }
  });

  test.each(['1', '1   ', '1 1 1 1 1 1 1 1 1 1 1 a', '01890000-0000-7000-8000-00000000000', '127.0.0.'])(
    'is made in linear time from a long text: %j',
    (part) => {
      const error = Object.assign(new Error(part.repeat(200_000)), { stack: '' });
      const startedAt = performance.now();
      describeError(error);
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    },
  );

  test('keeps numbers that identify a payment, a port or a line', () => {
    const message =
      'attempt 1: session 01890000-0000-7000-8000-00000000000a, port 127.0.0.1:65535, 12345678901 ms, connect ECONNREFUSED 10.100.200.100:5432, 2026-03-01T10:00:00.000Z';
    expect(describeError(new Error(message))).toMatchObject({ message });
  });
});

test("the log of Nest's messages contains no refused value either", () => {
  const lines: unknown[][] = [];
  const log = { error: (...line: unknown[]) => lines.push(line) } as unknown as Parameters<typeof nestLog>[0];
  const parse = (): unknown => JSON.parse(`{"cardNumber": ${SECRET}`);
  expect(parse).toThrow(SyntaxError);
  try {
    parse();
  } catch (error) {
    nestLog(log).error(error, 'RpcExceptionsHandler');
  }
  nestLog(log).error(`refused ${SECRET}`);
  expect(lines.map(([, message]) => message)).toEqual(['A text cannot be parsed', 'refused [number]']);
});

test('describeError returns at most three causes, even if an error is its own cause', () => {
  const error = new Error('a');
  error.cause = error;
  expect(JSON.stringify(describeError(error)).match(/"type"/g)).toHaveLength(4);
});

test('a validation error is logged with the names of its fields, without their values', () => {
  const validationError = new DomainError('request.invalid', {
    fields: [{ field: 'email', message: `${SECRET} is not an address` }],
  });
  const described = describeError(validationError);
  expect(described).toMatchObject({ code: 'request.invalid', fields: ['email'] });
  expect(JSON.stringify(described)).not.toContain(SECRET);
});
