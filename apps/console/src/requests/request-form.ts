import { randomUUID } from 'node:crypto';
import {
  isAmountInCents,
  isEmailAddress,
  isText,
  MAX_IDENTIFIER_LENGTH,
  MAX_REQUEST_DESCRIPTION_LENGTH,
} from '@svc/contracts';
import { addDays, isUuid } from '@svc/kernel';
import { parseAmount } from '../languages/format.js';
import { findTexts } from '../languages/languages.js';
import { readField } from '../layout/forms.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { chooseLastDay } from './request.js';

/** The fields as the person typed them, to show the form again. */
export interface FormValues {
  readonly site: string;
  readonly amount: string;
  readonly description: string;
  readonly order: string;
  readonly expiry: string;
  readonly until: string;
  readonly email: string;
  readonly language: string;
  /** Idempotency key of the form (UUID). */
  readonly key: string;
}

/** A field with a wrong value. The texts of the console have a sentence for each. */
export type FormProblem = 'site' | 'amount' | 'description' | 'order' | 'expiry' | 'email';

export interface NewRequest {
  readonly siteId: number;
  /** Cents. */
  readonly amount: number;
  readonly description: string;
  readonly externalReference: string | undefined;
  /** The last of the merchant's days on which the request can be paid. */
  readonly lastDay: string;
  readonly expiresAt: Date;
  readonly email: string | undefined;
  readonly language: string;
  readonly key: string;
}

const MAX_FIELD_LENGTH = 300;

/** The form of a new request, with the first site of the person. */
export function newFormValues({ texts }: MerchantViewer, sites: readonly { readonly siteId: number }[]): FormValues {
  const site = String(sites[0]?.siteId ?? '');
  const empty = { amount: '', description: '', order: '', until: '', email: '' };
  return { ...empty, site, expiry: '7', language: texts.tag, key: randomUUID() };
}

/** The sites for which the person may request payments. */
export function listSites(viewer: MerchantViewer): MerchantViewer['merchant']['sites'] {
  return viewer.merchant.sites.filter(({ siteId }) => viewer.can('payment-requests.create', siteId));
}

export function readFormValues(form: unknown, viewer: MerchantViewer): FormValues {
  const read = (name: string): string => readField(form, name, MAX_FIELD_LENGTH) ?? '';
  const key = read('key');
  return {
    site: read('site') || String(listSites(viewer)[0]?.siteId ?? ''),
    amount: read('amount'),
    description: read('description'),
    order: read('order'),
    expiry: read('expiry'),
    until: read('until'),
    email: read('email'),
    language: findTexts(read('language'))?.tag ?? viewer.texts.tag,
    key: isUuid(key) ? key : randomUUID(),
  };
}

/** Checks the values. code-decoder checks them again. */
export function checkForm(
  values: FormValues,
  viewer: MerchantViewer,
  now: Date,
): { readonly request: NewRequest } | { readonly problem: FormProblem } {
  const { clock } = viewer;
  const site = listSites(viewer).find(({ siteId }) => String(siteId) === values.site);
  if (!site) return { problem: 'site' };
  const amount = parseAmount(values.amount);
  if (!isAmountInCents(amount)) return { problem: 'amount' };
  if (!isText(values.description, MAX_REQUEST_DESCRIPTION_LENGTH)) return { problem: 'description' };
  if (values.order !== '' && !isText(values.order, MAX_IDENTIFIER_LENGTH)) return { problem: 'order' };
  const lastDay = chooseLastDay(clock.dayOf(now), values.expiry, values.until);
  if (lastDay === undefined) return { problem: 'expiry' };
  if (values.email !== '' && !isEmailAddress(values.email)) return { problem: 'email' };
  return {
    request: {
      siteId: site.siteId,
      amount,
      description: values.description,
      externalReference: values.order === '' ? undefined : values.order,
      lastDay,
      expiresAt: clock.startOf(addDays(lastDay)),
      email: values.email === '' ? undefined : values.email,
      language: values.language,
      key: values.key,
    },
  };
}
