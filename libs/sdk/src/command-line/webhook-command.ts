/**
 * The command `svc-webhook verify`: checks each signature of one received webhook and reports the result, to debug a
 * receiver that refuses all webhooks. The input is a raw request: headers, an empty line, the body.
 */
import { parseArgs } from 'node:util';
import { parseJson } from '../http-exchange.js';
import { type LegacySignedFields, verifyLegacySignature } from '../webhooks/legacy-signature.js';
import {
  type SignedRequest,
  verifyWebhook,
  type WebhookErrorCode,
  WebhookVerificationError,
} from '../webhooks/verify-webhook.js';
import { WEBHOOK_HELP } from './help.js';

export interface CommandResult {
  /** 0: every checked signature is valid. 1: a signature is invalid. 2: wrong usage or unreadable input. */
  exitCode: 0 | 1 | 2;
  lines: string[];
}

export function webhookCommand(args: readonly string[], request: Uint8Array): CommandResult {
  let options;
  try {
    options = parseOptions(args);
  } catch (error) {
    return { exitCode: 2, lines: [(error as Error).message, '', ...WEBHOOK_HELP.trimEnd().split('\n')] };
  }
  const received = parseRequest(request);
  if (!received) return { exitCode: 2, lines: ['The input has no empty line between headers and body'] };

  const checks = [
    ...(options.secrets.length > 0 ? [verifyHeaders(received, options)] : []),
    ...(options.apiKeys.length > 0 ? [verifyBody(received, options.apiKeys)] : []),
  ];
  return { exitCode: checks.every(({ isValid }) => isValid) ? 0 : 1, lines: checks.map(({ line }) => line) };
}

interface SignatureCheck {
  isValid: boolean;
  line: string;
}

interface ReceivedRequest {
  headers: Record<string, string>;
  body: Uint8Array;
}

interface VerifyOptions {
  secrets: string[];
  apiKeys: string[];
  receivedAt: Date | undefined;
}

function parseOptions(args: readonly string[]): VerifyOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      secret: { type: 'string', multiple: true },
      'api-key': { type: 'string', multiple: true },
      'received-at': { type: 'string' },
    },
  });
  if (positionals.length !== 1 || positionals[0] !== 'verify')
    throw new Error('The commands are verify, listen and trigger');
  const { secret: secrets = [], 'api-key': apiKeys = [], 'received-at': time } = values;
  if (secrets.length + apiKeys.length === 0) throw new Error('Give --secret, --api-key or both');
  const receivedAt = time === undefined ? undefined : new Date(time);
  if (receivedAt && Number.isNaN(receivedAt.getTime())) throw new Error(`--received-at is no time: ${time}`);
  return { secrets, apiKeys, receivedAt };
}

function parseRequest(request: Uint8Array): ReceivedRequest | undefined {
  const bytes = Buffer.from(request);
  const separators = (['\r\n\r\n', '\n\n'] as const)
    .map((text) => ({ index: bytes.indexOf(text), length: text.length }))
    .filter(({ index }) => index >= 0)
    .sort((a, b) => a.index - b.index);
  const [separator] = separators;
  if (!separator) return undefined;
  const headers: Record<string, string> = {};
  for (const line of bytes.toString('latin1', 0, separator.index).split(/\r?\n/)) {
    const colon = line.indexOf(':');
    // Skip the request line: it has no colon, or a space before its colon.
    if (colon > 0 && !line.slice(0, colon).includes(' '))
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { headers, body: bytes.subarray(separator.index + separator.length) };
}

function verifyHeaders(received: ReceivedRequest, options: VerifyOptions): SignatureCheck {
  const { headers, body } = received;
  const { secrets, receivedAt } = options;
  const signedAt = new Date(Number(headers['webhook-timestamp']) * 1000);
  try {
    const payment = verifyWebhook({ headers, rawBody: body, secrets, now: receivedAt ?? signedAt });
    const { merchantOrderId, paymentReference, paymentStatus, amount } = payment;
    const summary = `${paymentStatus} of ${amount} cents for ${merchantOrderId}, payment ${paymentReference}`;
    return { isValid: true, line: `webhook-signature: right, signed ${signedAt.toISOString()}: ${summary}` };
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    const explanation = error.code === 'bad-signature' ? `. ${explainMismatch(received, options)}` : '';
    return { isValid: false, line: `webhook-signature: ${error.code}. ${error.message}${explanation}` };
  }
}

/** Typical changes to a body between the network and a receiver, or between a terminal and a file. */
const TYPICAL_CHANGES: readonly { name: string; undo: (body: string) => string | undefined }[] = [
  { name: 'without the end of line after the body', undo: (body) => body.replace(/\r?\n$/, '') },
  { name: 'without the byte order mark before the body', undo: (body) => body.replace(/^\uFEFF/, '') },
  {
    name: 'without the spaces and line breaks between its fields (it was parsed and serialised again)',
    // Undefined if the body is not JSON.
    undo: (body) => JSON.stringify(parseJson(body)),
  },
];

/** Explains why no signature matches: undoes each typical change of the body, and checks the signature again. */
function explainMismatch(received: ReceivedRequest, { secrets, apiKeys }: VerifyOptions): string {
  const body = Buffer.from(received.body).toString('utf8');
  const signedAt = new Date(Number(received.headers['webhook-timestamp']) * 1000);
  const found = TYPICAL_CHANGES.find(({ undo }) => {
    const originalBody = undo(body);
    if (originalBody === undefined || originalBody === body) return false;
    const request = { headers: received.headers, rawBody: originalBody, secrets, now: signedAt };
    return !failsWith('bad-signature', request);
  });
  if (found) return `It matches ${found.name}: verify the bytes exactly as they were received`;
  if (verifyBody(received, apiKeys).isValid)
    return "The older signature in the body is right, so the body is authentic: the secret is not this site's, or is an older one";
  return "Either the secret is not this site's, or the body was changed";
}

function failsWith(code: WebhookErrorCode, input: SignedRequest): boolean {
  try {
    verifyWebhook(input);
    return false;
  } catch (error) {
    return error instanceof WebhookVerificationError && error.code === code;
  }
}

function verifyBody({ body }: ReceivedRequest, apiKeys: string[]): SignatureCheck {
  try {
    const notification: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    const isValid =
      typeof notification === 'object' &&
      notification !== null &&
      verifyLegacySignature(notification as LegacySignedFields & { signature: string }, apiKeys);
    return {
      isValid,
      line: `signature in the body: ${isValid ? 'right' : 'made with another key or over other values'}`,
    };
  } catch {
    return { isValid: false, line: 'signature in the body: the body is not JSON' };
  }
}
