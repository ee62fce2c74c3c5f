/** Creates a table of limits and lifetimes that do not belong to one field. The numbers come from the code. */
import ts from 'typescript';
import type { Source } from './source/program.ts';
import { evaluate } from './source/validators.ts';

type Unit = 'bytes' | 'cents' | 'ms' | 'seconds' | '';

/** Description, name of a constant or setting, the end of its file's path, and its unit. */
type Limit = readonly [description: string, name: string, file: string, unit: Unit];

const EVERY_API: readonly Limit[] = [
  ['Largest body of a request', 'MAX_BODY_BYTES', 'libs/service/src/http/http.ts', 'bytes'],
  ['Largest amount', 'MAX_AMOUNT_CENTS', 'libs/contracts/src/validation.ts', 'cents'],
  ['Longest identifier, in characters', 'MAX_IDENTIFIER_LENGTH', 'libs/contracts/src/validation.ts', ''],
  ['Longest URL, in characters', 'MAX_URL_LENGTH', 'libs/contracts/src/validation.ts', ''],
];

const LIMITS: Readonly<Record<string, readonly Limit[]>> = {
  partner: [
    ...EVERY_API,
    ['An identity token is accepted for', 'TOKEN_SECONDS', 'http/identity-token.ts', 'seconds'],
    ['Logins of an email or address are counted over', 'WINDOW_MS', 'logins/login-limits.ts', 'ms'],
    ['Most payments on a page', 'MAX_HISTORY_PAGE_SIZE', 'http/payments/payments.ts', ''],
    [
      '`POST /v1/payments` waits for the bank for at most',
      'RESPONSE_TIMEOUT_MS',
      'partner-payments/make-payment.ts',
      'ms',
    ],
    ['A card encrypted with the previous key is accepted for', 'CARD_KEY_OVERLAP_MS', 'card-data/card-key.ts', 'ms'],
  ],
  merchant: [
    ...EVERY_API,
    ['An invoice can be paid for', 'SVC_INVOICE_LIFETIME_SECONDS', 'code-decoder/src/config.ts', 'seconds'],
    ['Failed payments of one invoice', 'MAX_INVOICE_PAYMENTS', 'invoices/invoice.ts', ''],
    ['Look-ups of one key at once', 'SVC_RETRIEVAL_BURST', 'merchant-retrieval/src/config.ts', ''],
    ['Events of the stream are kept for', 'MAX_NOTIFICATION_AGE_MS', 'stream/notification.repository.ts', 'ms'],
  ],
  gateway: [
    ...EVERY_API,
    ['A session can be paid for', 'SESSION_LIFETIME_MS', 'sessions/session.ts', 'ms'],
    ['A payer can extend a session once by', 'SESSION_EXTENSION_MS', 'sessions/session.ts', 'ms'],
    ['Failed payments of one session', 'MAX_SESSION_PAYMENTS', 'sessions/max-session-payments.ts', ''],
    ['Custom fields of one session', 'MAX_CUSTOM_FIELDS', 'libs/contracts/src/validation.ts', ''],
  ],
};

/** The table in Markdown; empty for an audience without limits. */
export function formatLimits(audience: string, source: Source): string {
  const limits = LIMITS[audience];
  if (!limits) return '';
  const rows = limits.map(
    ([description, name, file, unit]) => `| ${description} | ${formatNumber(readNumber(name, file, source), unit)} |`,
  );
  return ['\n\n| Limit or lifetime | |', '| --- | --- |', ...rows].join('\n');
}

function readNumber(name: string, file: string, { files, checker }: Source): number {
  const found = files.find(({ fileName }) => fileName.endsWith(`/${file}`));
  let value: ts.Expression | undefined;
  const visit = (node: ts.Node): void => {
    if ((ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) && node.name.getText() === name)
      value ??= node.initializer;
    ts.forEachChild(node, visit);
  };
  if (found) visit(found);
  if (!value) throw new Error(`There is no ${name} in ${file}.`);
  return evaluate(value, checker) as number;
}

function formatNumber(number: number, unit: Unit): string {
  if (unit === 'bytes') return `${number / 1024} KiB`;
  if (unit === 'ms' || unit === 'seconds') return formatDuration(unit === 'ms' ? number / 1_000 : number);
  const grouped = String(number).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
  return unit === 'cents' ? `${grouped} cents` : grouped;
}

/** The duration in the largest unit of which it is a multiple. */
function formatDuration(seconds: number): string {
  const [unitSeconds, name] = (
    [
      [86_400, 'days'],
      [3_600, 'hours'],
      [60, 'minutes'],
      [1, 's'],
    ] as const
  ).find(([each]) => seconds % each === 0 && seconds / each > 1) ?? [1, 's'];
  return `${seconds / unitSeconds} ${name}`;
}
