import type { AdministrationRequest } from '@svc/contracts';
import { invalidField } from '@svc/kernel';
import { readField } from '../../layout/forms.js';

/** A change of a merchant by a form of its page, as a request of the administration API. */
export interface MerchantChange {
  readonly method: AdministrationRequest['method'];
  readonly path: string;
  readonly body: object;
  /** The text after the change. */
  readonly done: string;
}

/** Longest field of these forms. */
const MAX_LENGTH = 200;

const text = (form: unknown, name: string): string => readField(form, name, MAX_LENGTH) ?? '';
const isChecked = (form: unknown, name: string): boolean => readField(form, name, 2) === 'on';

/** A whole number of a field; an empty field is undefined. */
function wholeNumber(form: unknown, name: string): number | undefined {
  const value = text(form, name).trim();
  if (value === '') return undefined;
  if (!/^\d{1,12}$/.test(value)) throw invalidField(name, `${name} must be a whole number`);
  return Number(value);
}

const mode = (form: unknown): 'test' | 'live' => (text(form, 'mode') === 'live' ? 'live' : 'test');
const present = (name: string, value: unknown): object =>
  value === undefined || value === '' ? {} : { [name]: value };

/** The changes by the name of their form. The administration API checks the values. */
const CHANGES: Readonly<Record<string, (merchantId: number, form: unknown) => MerchantChange>> = {
  settings: (merchantId, form) => ({
    method: 'PATCH',
    path: `/merchants/${merchantId}`,
    body: {
      name: text(form, 'name'),
      ...present('timeZone', text(form, 'timeZone')),
      ...present('minimumAmount', wholeNumber(form, 'minimumAmount')),
      maximumAmount: wholeNumber(form, 'maximumAmount') ?? null,
    },
    done: 'The settings are changed.',
  }),
  fees: (merchantId, form) => ({
    method: 'PATCH',
    path: `/merchants/${merchantId}`,
    body: {
      fees: Object.fromEntries(
        (['test', 'live'] as const).map((name) => [
          name,
          {
            basisPoints: wholeNumber(form, `${name}BasisPoints`) ?? 0,
            fixedAmount: wholeNumber(form, `${name}FixedAmount`) ?? 0,
          },
        ]),
      ),
    },
    done: 'The fees are changed. They apply to payments that are accepted from now on.',
  }),
  features: (merchantId, form) => ({
    method: 'PATCH',
    path: `/merchants/${merchantId}`,
    body: {
      features: {
        amount: { editable: isChecked(form, 'amountEditable') },
        orderReference: {
          ...present('label', text(form, 'orderReferenceLabel')),
          editable: isChecked(form, 'orderReferenceEditable'),
          required: isChecked(form, 'orderReferenceRequired'),
        },
        tip: { enabled: isChecked(form, 'tipEnabled') },
      },
    },
    done: 'The features are changed.',
  }),
  sites: (merchantId, form) => ({
    method: 'POST',
    path: `/merchants/${merchantId}/sites`,
    body: {
      name: text(form, 'name'),
      siteReference: text(form, 'siteReference'),
      requireApiKey: true,
      allowedHosts: [],
      keylessMode: 'test',
    },
    done: 'The site is created.',
  }),
  account: (merchantId, form) => ({
    method: 'POST',
    path: '/merchant-accounts',
    body: {
      merchantId,
      mode: mode(form),
      accountReference: text(form, 'accountReference'),
      ...present('acquirer', text(form, 'acquirer')),
    },
    done: 'The account is set. New charges use it within a second.',
  }),
  people: (merchantId, form) => ({
    method: 'POST',
    path: `/merchants/${merchantId}/people`,
    body: { email: text(form, 'email'), role: 'owner' },
    done: 'The owner is invited.',
  }),
  keys: (merchantId, form) => ({
    method: 'POST',
    path: `/merchants/${merchantId}/keys`,
    body: { mode: mode(form) },
    done: 'The key is created.',
  }),
};

/** Undefined for an unknown form. Throws `request.invalid` for a field that is no number. */
export function readMerchantChange(name: string, merchantId: number, form: unknown): MerchantChange | undefined {
  return Object.hasOwn(CHANGES, name) ? CHANGES[name]!(merchantId, form) : undefined;
}

/** The grants of a merchant with one partner's grant replaced. A grant that allows nothing is removed. */
export function changeGrants(grants: readonly Grant[], form: unknown): Grant[] {
  const changed = {
    organisationId: text(form, 'organisationId').trim().toLowerCase(),
    vouchers: isChecked(form, 'vouchers'),
    externalPayments: isChecked(form, 'externalPayments'),
  };
  const others = grants.filter(({ organisationId }) => organisationId !== changed.organisationId);
  return changed.vouchers || changed.externalPayments ? [...others, changed] : others;
}

/** The reports that a partner may send for a merchant. */
export interface Grant {
  readonly organisationId: string;
  readonly vouchers: boolean;
  readonly externalPayments: boolean;
}
