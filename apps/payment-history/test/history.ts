import type { PaymentHistory, SinglePayment } from '@svc/contracts';
import { startTestService, type TestService } from '@svc/testing';
import { paymentHistoryService } from '../src/index.js';

export const ADMIN_KEY = 'an administration key for tests 1';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface History extends TestService {
  get(url: string, headers?: Record<string, string>): Promise<HttpResponse>;
  /** Reads one payment. Throws if it is not found. */
  getPayment(paymentReference: string, headers: Record<string, string>): Promise<SinglePayment>;
  /** Reads a page of the history. Returns undefined for a 204. */
  getPage(query: string, headers: Record<string, string>): Promise<PaymentHistory | undefined>;
}

export async function startHistory(): Promise<History> {
  const test = await startTestService(paymentHistoryService, { env: { SVC_ADMIN_KEY: ADMIN_KEY } });
  const get: History['get'] = async (url, headers = {}) => {
    const response = await test.service.app.inject({ method: 'GET', url, headers });
    return { status: response.statusCode, headers: response.headers, text: response.body };
  };
  return {
    ...test,
    get,
    getPayment: async (paymentReference, headers) => {
      const { status, text } = await get(`/v1/payments/${paymentReference}`, headers);
      if (status !== 200) throw new Error(`Not found: ${status} ${text}`);
      return JSON.parse(text) as SinglePayment;
    },
    getPage: async (query, headers) => {
      const { status, text } = await get(`/v1/payments${query}`, headers);
      if (status === 204) return undefined;
      if (status !== 200) throw new Error(`No page: ${status} ${text}`);
      return JSON.parse(text) as PaymentHistory;
    },
  };
}
