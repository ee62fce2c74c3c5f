import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { legacySignatureText, type LegacySignedFields } from '../webhooks/legacy-signature.js';
import { webhookCommand } from './webhook-command.js';

// The test vector is the one in the documentation: this test fails if either changes.
const page = readFileSync(join(import.meta.dirname, '../../../../docs/webhooks.md'), 'utf8');
const found = (pattern: RegExp): string => {
  const text = pattern.exec(page)?.[1];
  if (text === undefined) throw new Error(`docs/webhooks.md has no ${pattern}`);
  return text;
};
const request = Buffer.from(found(/```http\n([^]*?)\n```/));
const secret = found(/`(whsec_\w{20,})`/);
const apiKey = found(/API key of the site\s*\|\s*`(\w+)`/);
const WRONG = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;

const changed = (from: string, to: string): Buffer => Buffer.from(request.toString('utf8').replace(from, to));

describe('the request in the documentation', () => {
  it('is valid under both signature schemes', () => {
    const { exitCode, lines } = webhookCommand(['verify', '--secret', secret, '--api-key', apiKey], request);
    expect(lines).toEqual([
      'webhook-signature: right, signed 2026-03-01T10:00:00.000Z: Failed of 12345 cents for order|42 é, payment 1H2J3K4M5N6P7Q8R9S',
      'signature in the body: right',
    ]);
    expect(exitCode).toBe(0);
  });

  it('has the signed text that the documentation shows', () => {
    const body = JSON.parse(request.toString('utf8').split('\n\n')[1]!) as LegacySignedFields;
    const shown = found(/input of the older signature\s*\|\s*`(.*)`/).replaceAll('\\|', '|');
    expect(legacySignatureText(body, apiKey)).toBe(shown);
  });

  it('is read with line ends of either kind', () => {
    const [head, body] = request.toString('utf8').split('\n\n') as [string, string];
    const onTheWire = Buffer.from(`${head.replaceAll('\n', '\r\n')}\r\n\r\n${body}`);
    expect(webhookCommand(['verify', '--secret', secret], onTheWire).exitCode).toBe(0);
  });
});

it.each([
  ['\r\n', '\n\n'],
  ['\n', '\r\n\r\n'],
])('the headers end at the first empty line: line ends %j, and %j in the body', (end, blank) => {
  const [, signedBody] = request.toString('utf8').split('\n\n') as [string, string];
  const body = signedBody.replace('{', `{${blank}`);
  const at = new Date('2026-03-01T10:00:00Z');
  const signature = new Webhook(secret).sign('id-1', at, body);
  const headers = ['webhook-id: id-1', `webhook-timestamp: ${at.getTime() / 1000}`, `webhook-signature: ${signature}`];
  const onTheWire = Buffer.from([...headers, '', body].join(end));
  expect(webhookCommand(['verify', '--secret', secret], onTheWire).exitCode).toBe(0);
});

describe('svc-webhook verify', () => {
  it.each([
    ['another secret', ['--secret', WRONG], request, 'bad-signature'],
    ['a body that was changed', ['--secret', secret], changed('12345', '12346'), 'bad-signature'],
    [
      'a body that was parsed and written again',
      ['--secret', secret],
      changed('","amount"', '", "amount"'),
      'bad-signature',
    ],
    ['a secret that is none', ['--secret', 'whsec_%'], request, 'bad-secret'],
    ['a missing header', ['--secret', secret], changed('webhook-id: ', 'x-id: '), 'bad-headers'],
    ['an age', ['--secret', secret, '--received-at', '2026-03-01T10:06:00Z'], request, 'too-old'],
    ['another key', ['--api-key', 'svc_test_site_B'], request, 'made with another key'],
    ['no JSON', ['--api-key', apiKey], changed('{"', '{'), 'not JSON'],
  ])('reports the error: %s', (_, args, input, says) => {
    const { exitCode, lines } = webhookCommand(['verify', ...args], input);
    expect(exitCode).toBe(1);
    expect(lines[0]).toContain(says);
  });

  it.each([
    [
      'the file got a line break at its end',
      Buffer.concat([request, Buffer.from('\n')]),
      'without the end of line after the body',
    ],
    ['it was written with spaces', changed('","amount"', '", "amount"'), 'it was parsed and serialised again'],
    ['a byte order mark came before it', changed('\n\n{', '\n\n\uFEFF{'), 'without the byte order mark'],
    ['something else was changed', changed('12345', '12346'), 'Either the secret'],
  ])('reports why the signature does not match: %s', (_, input, says) => {
    expect(webhookCommand(['verify', '--secret', secret], input).lines[0]).toContain(says);
  });

  it('reports that the secret is wrong if the older signature is right', () => {
    const { lines } = webhookCommand(['verify', '--secret', WRONG, '--api-key', apiKey], request);
    expect(lines).toEqual([
      expect.stringContaining(
        "The older signature in the body is right, so the body is authentic: the secret is not this site's",
      ),
      'signature in the body: right',
    ]);
  });

  it('accepts several secrets and keys, as during a rotation', () => {
    const args = ['verify', '--secret', WRONG, '--secret', secret, '--api-key', 'svc_test_site_B', '--api-key', apiKey];
    expect(webhookCommand([...args, '--received-at', '2026-03-01T10:04:00Z'], request).exitCode).toBe(0);
  });

  it.each([
    [[], request],
    [['check', '--secret', secret], request],
    [['verify'], request],
    [['verify', '--secret', secret, '--received-at', 'noon'], request],
    [['verify', '--password', 'x'], request],
    [['verify', '--secret', secret], Buffer.from('only a line')],
  ])('exits with 2 for invalid arguments or input: %j', (args, input) => {
    expect(webhookCommand(args, input).exitCode).toBe(2);
  });
});
