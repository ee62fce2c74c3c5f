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

const documentedBody = request.toString('utf8').split('\n\n')[1]!;

/** A request with a valid signature of the body. */
function createSignedRequest(body: string, lineEnd = '\n'): Buffer {
  const signedAt = new Date('2026-03-01T10:00:00Z');
  const signature = new Webhook(secret).sign('id-1', signedAt, body);
  const headers = [
    'webhook-id: id-1',
    `webhook-timestamp: ${signedAt.getTime() / 1000}`,
    `webhook-signature: ${signature}`,
  ];
  return Buffer.from([...headers, '', body].join(lineEnd));
}

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
    const body = JSON.parse(documentedBody) as LegacySignedFields;
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
  const body = documentedBody.replace('{', `{${blank}`);
  expect(webhookCommand(['verify', '--secret', secret], createSignedRequest(body, end)).exitCode).toBe(0);
});

it('a line without a colon is not a header', () => {
  // Without its last character, the line is the name of a header.
  const input = replaceInRequest('\n\n', '\nwebhook-idx\n\n');
  expect(webhookCommand(['verify', '--secret', secret], input).exitCode).toBe(0);
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
    ['a body that is null', ['--api-key', apiKey], Buffer.from('\n\nnull'), 'made with another key'],
    ['a request without headers', ['--secret', secret], Buffer.from(`\n\n${documentedBody}`), 'bad-headers'],
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
    [
      'a line break was added after a body that contains line breaks',
      Buffer.concat([createSignedRequest(documentedBody.replace('{', '{\n')), Buffer.from('\n')]),
      'without the end of line after the body',
    ],
    [
      'a line break was added after a signed body that is no payment',
      Buffer.concat([createSignedRequest('{"a":1}'), Buffer.from('\n')]),
      'without the end of line after the body',
    ],
    ['a value was changed', replaceInRequest('12345', '12346'), 'Either the secret'],
    ['a byte order mark was added to a value', replaceInRequest('order|42', 'order|\uFEFF42'), 'Either the secret'],
    [
      'the JSON was serialised with spaces, and a value was changed',
      replaceInRequest('","amount":12345', '", "amount":12346'),
      'Either the secret',
    ],
    ['the body is not JSON', replaceInRequest('{"', '{'), 'Either the secret'],
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

  it('does not report that the secret is wrong if the older signature does not match either', () => {
    const args = ['verify', '--secret', WRONG_SECRET, '--api-key', 'svc_test_site_B'];
    expect(webhookCommand(args, request).lines[0]).toContain('Either the secret');
  });

  it('explains the body only if the signature does not match', () => {
    const input = replaceInRequest('webhook-id: ', 'x-id: ');
    expect(webhookCommand(['verify', '--secret', secret], input).lines).toEqual([
      'webhook-signature: bad-headers. The header webhook-id is missing or unreadable',
    ]);
  });

  it('exits with 1 if only one of the two signatures is valid', () => {
    const args = ['verify', '--secret', secret, '--api-key', 'svc_test_site_B'];
    expect(webhookCommand(args, request)).toEqual({
      exitCode: 1,
      lines: [
        expect.stringContaining('webhook-signature: right'),
        'signature in the body: made with another key or over other values',
      ],
    });
  });

  it('accepts several secrets and API keys, as during a rotation', () => {
    const args = [
      'verify',
      '--secret',
      WRONG_SECRET,
      '--secret',
      secret,
      '--api-key',
      apiKey,
      '--api-key',
      'svc_test_site_B',
    ];
    expect(webhookCommand([...args, '--received-at', '2026-03-01T10:04:00Z'], request).exitCode).toBe(0);
  });

  it.each([
    [[], 'The commands are verify, listen and trigger'],
    [['check', '--secret', secret], 'The commands are verify, listen and trigger'],
    [['verify', 'request.txt', '--secret', secret], 'The commands are verify, listen and trigger'],
    [['verify'], 'Give --secret, --api-key or both'],
    [['verify', '--secret', secret, '--received-at', 'noon'], '--received-at is no time: noon'],
    [['verify', '--password', 'x'], "Unknown option '--password'"],
  ])('exits with 2 for the arguments %j, and prints the problem and the usage', (args, problem) => {
    const { exitCode, lines } = webhookCommand(args, request);
    const [firstLine, emptyLine, usage] = lines;
    expect([exitCode, firstLine, emptyLine]).toEqual([2, expect.stringContaining(problem), '']);
    expect(usage).toMatch(/^usage: svc-webhook verify .*< request$/);
    expect(lines.at(-1)).toBe('Other commands: svc-webhook listen, svc-webhook trigger');
  });

  it('exits with 2 if the input has no body', () => {
    expect(webhookCommand(['verify', '--secret', secret], Buffer.from('only a line'))).toEqual({
      exitCode: 2,
      lines: ['The input has no empty line between headers and body'],
    });
  });
});
