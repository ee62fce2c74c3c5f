import { DISPUTE_STAGES } from '../disputes/dispute-stages.js';
import { FAULT_TYPES, OPERATIONS } from './faults.js';

// Bodies of the control interface. Forms send numbers as text, which Fastify converts.

const REFERENCE = { type: 'string', minLength: 1, maxLength: 100 } as const;
/** At most two minutes, so that no request stays open for longer. */
const DELAY_MS = { type: 'integer', minimum: 0, maximum: 120_000 } as const;
const TIMES = { type: 'integer', minimum: 1, maximum: 10_000 } as const;

export const FAULT_BODY = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: {
    type: { enum: [...FAULT_TYPES] },
    operation: { enum: [...OPERATIONS] },
    reference: REFERENCE,
    delayMs: DELAY_MS,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    times: TIMES,
  },
} as const;

export const WEBHOOK_RULE_BODY = {
  type: 'object',
  required: ['action'],
  additionalProperties: false,
  properties: {
    action: { enum: ['withhold', 'duplicate', 'delay', 'as-live', 'wrong-signature'] },
    eventCode: REFERENCE,
    merchantReference: REFERENCE,
    delayMs: { type: 'integer', minimum: 0, maximum: 30 * 24 * 3_600_000 },
    times: TIMES,
  },
} as const;

export const RELEASE_BODY = {
  type: 'object',
  additionalProperties: false,
  properties: { order: { enum: ['oldest-first', 'newest-first'], default: 'oldest-first' }, eventCode: REFERENCE },
} as const;

export const UNKNOWN_EVENT_BODY = {
  type: 'object',
  required: ['eventCode', 'merchantAccount'],
  additionalProperties: false,
  properties: { eventCode: REFERENCE, merchantAccount: REFERENCE },
} as const;

export const ENDPOINT_BODY = {
  type: 'object',
  required: ['url'],
  additionalProperties: false,
  properties: {
    url: { type: 'string', pattern: '^https?://[!-~]+$', maxLength: 2048 },
    user: { type: 'string', minLength: 1, maxLength: 200 },
    password: { type: 'string', minLength: 1, maxLength: 200 },
  },
} as const;

export const MODIFICATION_FAILURE_BODY = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: {
    type: { enum: ['capture', 'cancel', 'technical-cancel', 'refund', 'reversal'] },
    reason: { type: 'string', minLength: 1, maxLength: 200, default: 'Failed by the emulator' },
    paymentPspReference: REFERENCE,
  },
} as const;

export const DISPUTE_BODY = {
  type: 'object',
  required: ['eventCode'],
  additionalProperties: false,
  properties: {
    eventCode: { enum: DISPUTE_STAGES.map(({ eventCode }) => eventCode) },
    value: { type: 'integer', minimum: 1, maximum: 1_000_000_000_000 },
  },
} as const;

export const SETTLEMENT_BODY = {
  type: 'object',
  required: ['merchantAccount'],
  additionalProperties: false,
  properties: { merchantAccount: REFERENCE },
} as const;

export const CLOCK_BODY = {
  type: 'object',
  required: ['advanceMs'],
  additionalProperties: false,
  // At most ten years.
  properties: { advanceMs: { type: 'integer', minimum: 0, maximum: 315_360_000_000 } },
} as const;
