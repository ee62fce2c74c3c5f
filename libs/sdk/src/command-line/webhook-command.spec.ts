import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { legacySignatureText, type LegacySignedFields } from '../webhooks/legacy-signature.js';
import { webhookCommand } from './webhook-command.js';

// The tests read the test vector from docs/webhooks.md, so that the documentation and the code cannot differ.
const documentation = readFileSync(join(import.meta.dirname, '../../../../docs/webhooks.md'), 'utf8');
const findInDocumentation = (pattern: RegExp): string => {
  const text = pattern.exec(documentation)?.[1];
  if (text === undefined) throw new Error(`docs/webhooks.md has no ${pattern}`);
  return text;
};
const request = Buffer.from(findInDocumentation(/```http\n([^]*?)\n```/));
const secret = findInDocumentation(/`(whsec_\w{20,})`/);
const apiKey = findInDocumentation(/API key of the site\s*\|\s*`(\w+)`/);
const WRONG_SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;

const replaceInRequest = (from: string, to: string): Buffer => Buffer.from(request.toString('utf8').replace(from, to));

describe('the example request in docs/webhooks.md', () => {
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
    const documentedText = findInDocumentation(/input of the older signature\s*\|\s*`(.*)`/).replaceAll('\\|', '|');
    expect(legacySignatureText(body, apiKey)).toBe(documentedText);
  });

  it('is also accepted with CRLF line ends', () => {
    const [head, body] = request.toString('utf8').split('\n\n') as [string, string];
    const crlfRequest = Buffer.from(`${head.replaceAll('\n', '\r\n')}\r\n\r\n${body}`);
    expect(webhookCommand(['verify', '--secret', secret], crlfRequest).exitCode).toBe(0);
  });
});

it.each([
  ['\r\n', '\n\n'],
  ['\n', '\r\n\r\n'],
])('the headers end at the first empty line, if lines end with %j and the body contains %j', (end, blank) => {
  const [, signedBody] = request.toString('utf8').split('\n\n') as [string, string];
  const body = signedBody.replace('{', `{${blank}`);
  const signedAt = new Date('2026-03-01T10:00:00Z');
  const signature = new Webhook(secret).sign('id-1', signedAt, body);
  const headers = [
    'webhook-id: id-1',
    `webhook-timestamp: ${signedAt.getTime() / 1000}`,
    `webhook-signature: ${signature}`,
  ];
  const signedRequest = Buffer.from([...headers, '', body].join(end));
  expect(webhookCommand(['verify', '--secret', secret], signedRequest).exitCode).toBe(0);
});

describe('svc-webhook verify', () => {
  it.each([
    ['another secret', ['--secret', WRONG_SECRET], request, 'bad-signature'],
    ['a body that was changed', ['--secret', secret], replaceInRequest('12345', '12346'), 'bad-signature'],
    [
      'a body that was parsed and written again',
      ['--secret', secret],
      replaceInRequest('","amount"', '", "amount"'),
      'bad-signature',
    ],
    ['a malformed secret', ['--secret', 'whsec_%'], request, 'bad-secret'],
    ['a missing header', ['--secret', secret], replaceInRequest('webhook-id: ', 'x-id: '), 'bad-headers'],
    [
      'a signature that was too old when it was received',
      ['--secret', secret, '--received-at', '2026-03-01T10:06:00Z'],
      request,
      'too-old',
    ],
    ['another API key', ['--api-key', 'svc_test_site_B'], request, 'made with another key'],
    ['a body that is not JSON', ['--api-key', apiKey], replaceInRequest('{"', '{'), 'not JSON'],
  ])('reports %s, and exits with 1', (_, args, input, message) => {
    const { exitCode, lines } = webhookCommand(['verify', ...args], input);
    expect(exitCode).toBe(1);
    expect(lines[0]).toContain(message);
  });

  it.each([
    [
      'a line break was added at the end of the file',
      Buffer.concat([request, Buffer.from('\n')]),
      'without the end of line after the body',
    ],
    [
      'the JSON was serialised with spaces',
      replaceInRequest('","amount"', '", "amount"'),
      'it was parsed and serialised again',
    ],
    [
      'a byte order mark was added before the body',
      replaceInRequest('\n\n{', '\n\n\uFEFF{'),
      'without the byte order mark',
    ],
    ['a value was changed', replaceInRequest('12345', '12346'), 'Either the secret'],
  ])('reports why the signature does not match if %s', (_, input, message) => {
    expect(webhookCommand(['verify', '--secret', secret], input).lines[0]).toContain(message);
  });

  it('reports that the secret is wrong if the older signature in the body is valid', () => {
    const { lines } = webhookCommand(['verify', '--secret', WRONG_SECRET, '--api-key', apiKey], request);
    expect(lines).toEqual([
      expect.stringContaining(
        "The older signature in the body is right, so the body is authentic: the secret is not this site's",
      ),
      'signature in the body: right',
    ]);
  });

  it('accepts several secrets and API keys, as during a rotation', () => {
    const args = [
      'verify',
      '--secret',
      WRONG_SECRET,
      '--secret',
      secret,
      '--api-key',
      'svc_test_site_B',
      '--api-key',
      apiKey,
    ];
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
