import { createHash } from 'node:crypto';
import { DISPUTE_STAGES } from '../disputes/dispute-stages.js';
import { findDispute } from '../disputes/move-dispute.js';
import type { EmulatorContext } from '../emulator-context.js';
import type { Amount, ModificationRecord, PaymentRecord, WebhookRecord } from '../state/records.js';
import { FAULT_TYPES, type Faults, OPERATIONS } from './faults.js';

/** Number of payments and webhooks on the page; the newest. */
const PAGE_LENGTH = 50;

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0 auto; padding: 1.5rem; max-width: 75rem; font: 1rem/1.5 system-ui, sans-serif; }
  table { border-collapse: collapse; width: 100%; }
  th, td { padding: 0.375rem 0.5rem; border-bottom: 1px solid #8886; text-align: left; vertical-align: top; }
  form { display: inline-flex; flex-wrap: wrap; gap: 0.375rem; margin: 0 0.5rem 0.375rem 0; align-items: end; }
  label { display: inline-flex; flex-direction: column; font-size: 0.875rem; }
  button, select, input { font: inherit; padding: 0.25rem 0.5rem; }
`;

export const CONTROL_PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
};

/** The page on which a person controls the emulator. It has no script: each button is a form. */
export function controlPage(context: EmulatorContext, faults: Faults): string {
  const { store, clock, merchantAccounts } = context;
  const payments = [...store.payments.values()].slice(-PAGE_LENGTH).reverse();
  const webhooks = [...store.webhooks.values()].slice(-PAGE_LENGTH).reverse();
  const waiting = faults.list();
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Emulator of Adyen</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><main><h1>Emulator of Adyen</h1>
<p>This program answers like Adyen’s test system, and moves no money. Its clock shows ${escapeHtml(clock.nowText())}.
${form('/emulator/clock', 'Advance the clock by one day', { advanceMs: '86400000' })}
${form('/emulator/clock', 'Advance the clock by one hour', { advanceMs: '3600000' })}</p>
<h2>Next requests</h2>
<form method="post" action="/emulator/faults">
${select('type', 'Fault', FAULT_TYPES)}${select('operation', 'Operation', OPERATIONS)}
<label>Delay in ms<input name="delayMs" type="number" min="0" max="120000" value="5000"></label>
<label>Status<input name="status" type="number" min="400" max="599" value="503"></label>
<button>Cause this fault once</button></form>
<p>${waiting.length === 0 ? 'No fault waits for a request.' : `Faults that wait for a request: ${escapeHtml(waiting.map(({ type, operation }) => `${type} (${operation ?? 'any'})`).join(', '))}.`}</p>
<form method="post" action="/emulator/modification-failures">
${select('type', 'Modification', ['capture', 'cancel', 'technical-cancel', 'refund', 'reversal'])}
<button>Let the next one fail</button></form>
<h2>Payments</h2>
<table><thead><tr><th scope="col">Reference</th><th scope="col">PSP reference</th><th scope="col">Amount</th><th scope="col">Card</th><th scope="col">State</th><th scope="col">Actions</th></tr></thead>
<tbody>${payments.map((payment) => paymentRow(context, payment)).join('')}</tbody></table>
<h2>Webhooks</h2>
<form method="post" action="/emulator/webhook-rules">
${select('action', 'Rule for the next webhook', ['withhold', 'duplicate', 'delay', 'as-live', 'wrong-signature'])}
<label>Delay in ms<input name="delayMs" type="number" min="0" value="5000"></label><button>Add the rule</button></form>
${form('/emulator/webhooks/release', 'Release withheld webhooks', { order: 'oldest-first' })}
${form('/emulator/webhooks/release', 'Release withheld webhooks, newest first', { order: 'newest-first' })}
${form('/emulator/webhooks/deliver', 'Send waiting webhooks now', {})}
<table><thead><tr><th scope="col">Number</th><th scope="col">Event</th><th scope="col">Reference</th><th scope="col">Success</th><th scope="col">State</th><th scope="col">Actions</th></tr></thead>
<tbody>${webhooks.map(webhookRow).join('')}</tbody></table>
<h2>Settlement</h2>
${[...merchantAccounts].map((account) => form('/emulator/settlements', `Close the batch of ${account}`, { merchantAccount: account })).join('')}
</main></body></html>`;
}

function paymentRow(context: EmulatorContext, payment: PaymentRecord): string {
  const { order, pspReference, state, refusalReason } = payment;
  const dispute = findDispute(context, payment);
  const modifications = [...context.store.modifications.values()].filter(
    (each) => each.paymentPspReference === pspReference,
  );
  const hasCapture = modifications.some((each) => each.type === 'capture' && each.state === 'succeeded');
  const refunds = modifications.filter(({ type }) => type === 'refund');
  const name = escapeHtml(order.reference);
  const actions = [
    ...(hasCapture
      ? [form(`/emulator/payments/${pspReference}/capture-failed`, `Capture of ${order.reference} fails`, {})]
      : []),
    ...(state === 'captured'
      ? [
          `<form method="post" action="/emulator/payments/${pspReference}/disputes">${select(
            'eventCode',
            `Dispute of ${name}`,
            DISPUTE_STAGES.map(({ eventCode }) => eventCode),
          )}<button>Move the dispute</button></form>`,
        ]
      : []),
    ...refunds.map(refundActions),
  ];
  const cells = [
    escapeHtml(order.reference),
    pspReference,
    formatAmount(order.amount),
    `${order.card.brand} ${order.card.lastFour}`,
    escapeHtml([state, refusalReason, dispute?.events.at(-1)].filter((each) => each !== undefined).join(', ')),
    actions.join(''),
  ];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

function refundActions({ pspReference, amount, state }: ModificationRecord): string {
  if (state !== 'succeeded') return `<p>Refund of ${formatAmount(amount)}: ${state}</p>`;
  return (
    form(`/emulator/refunds/${pspReference}/failed`, `Refund of ${formatAmount(amount)} fails`, {}) +
    form(`/emulator/refunds/${pspReference}/reversed`, `Refund of ${formatAmount(amount)} is reversed`, {})
  );
}

function webhookRow({ id, item, state, attempts, lastError }: WebhookRecord): string {
  const cells = [
    String(id),
    escapeHtml(item.eventCode),
    escapeHtml(item.merchantReference),
    item.success,
    escapeHtml(`${state}, ${attempts} attempts${lastError === undefined ? '' : `, ${lastError}`}`),
    form(`/emulator/webhooks/${id}/send`, 'Send again', {}),
  ];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

function form(action: string, label: string, fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`,
  );
  return `<form method="post" action="${action}">${inputs.join('')}<button>${escapeHtml(label)}</button></form>`;
}

function select(name: string, label: string, values: readonly string[]): string {
  const options = values.map((value) => `<option>${value}</option>`);
  return `<label>${label}<select name="${name}">${options.join('')}</select></label>`;
}

function formatAmount({ currency, value }: Amount): string {
  const cents = String(value).padStart(3, '0');
  return `${escapeHtml(currency)} ${cents.slice(0, -2)}.${cents.slice(-2)}`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
