import type { LabelsOf } from '@svc/contracts';
import type { WebhookResponse } from './webhook-client.js';

type ResponseClass = LabelsOf<'svc.webhook.attempts'>['response'];

const CLASSES: Readonly<Record<string, ResponseClass>> = {
  timeout: 'timeout',
  'connect-timeout': 'timeout',
  'connection-refused': 'connection',
  'connection-reset': 'connection',
  unreachable: 'connection',
  'name-not-found': 'name',
  'name-servers-failed': 'name',
  tls: 'tls',
};

/** The class of a response, for metrics: of its status, or of its error. */
export function classOfResponse({
  statusCode,
  errorClass = '',
}: Pick<WebhookResponse, 'statusCode' | 'errorClass'>): ResponseClass {
  const hundreds = Math.floor((statusCode ?? 0) / 100);
  if (hundreds >= 2 && hundreds <= 5) return `${hundreds}xx` as ResponseClass;
  return errorClass.startsWith('address-refused:') ? 'refused' : (CLASSES[errorClass] ?? 'other');
}
