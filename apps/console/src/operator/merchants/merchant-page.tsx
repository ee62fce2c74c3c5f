import { canOperate } from '@svc/contracts';
import type { ComponentChildren } from 'preact';
import { PostForm } from '../../layout/form-elements.js';
import { FactList } from '../../layout/layout.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { CreatedValues } from '../administration/created-values.js';
import { ModeChoice } from '../administration/mode-choice.js';
import { type PageMessage, renderPage } from '../administration/operator-page.js';
import { OperatorTable, TextField, UtcTime } from '../administration/operator-table.js';
import type { Grant } from './merchant-changes.js';

interface Fee {
  readonly basisPoints: number;
  readonly fixedAmount: number;
}

/** `GET /admin/v1/merchants/{merchantId}`. */
export interface Merchant {
  readonly merchantId: number;
  readonly name: string;
  readonly createdUTCDate: string;
  readonly minimumAmount: number;
  readonly maximumAmount: number | null;
  readonly features: {
    readonly amount?: { readonly editable?: boolean };
    readonly orderReference?: { readonly label?: string; readonly editable?: boolean; readonly required?: boolean };
    readonly tip?: { readonly enabled?: boolean };
  };
  readonly grants: readonly Grant[];
  readonly fees: { readonly test?: Fee; readonly live?: Fee };
  readonly timeZones: readonly { readonly zone: string }[];
  readonly sites: readonly {
    readonly siteId: number;
    readonly name: string;
    readonly siteReference: string;
    readonly webhookUrl: string | null;
    readonly webhookEnabled: boolean;
  }[];
}

/** `GET /admin/v1/merchant-accounts?merchantId=…`. */
export interface MerchantAccounts {
  readonly merchantAccounts: readonly {
    readonly mode: string;
    readonly acquirer: string;
    readonly accountReference: string;
  }[];
  readonly acquirers: Readonly<Record<'test' | 'live', readonly string[]>>;
}

interface MerchantPage {
  readonly viewer: OperatorViewer;
  readonly merchant: Merchant;
  readonly accounts: MerchantAccounts;
  readonly message?: PageMessage | undefined;
  /** Secrets and links that a form created, shown once. */
  readonly created?: readonly (readonly [name: string, value: string])[] | undefined;
}

export function renderMerchantPage({ viewer, merchant, accounts, message, created = [] }: MerchantPage): string {
  const { merchantId, name, createdUTCDate, grants, sites, timeZones } = merchant;
  return renderPage({
    title: `${name} (${merchantId})`,
    viewer,
    current: 'merchants',
    message,
    children: (
      <>
        <CreatedValues values={created} />
        <section class="card">
          <FactList>
            {[
              ['Created (UTC)', <UtcTime at={createdUTCDate} />],
              ['Time zone', timeZones.at(-1)?.zone ?? ''],
              ['Live acquirers', accounts.acquirers.live.join(', ') || 'none is configured'],
            ]}
          </FactList>
        </section>
        <OperatorTable
          caption="Sites"
          empty="The merchant has no site yet."
          rows={sites}
          columns={[
            ['Site', ({ siteId }) => siteId],
            ['Name', (site) => site.name],
            ['Own reference', ({ siteReference }) => siteReference],
            [
              'Webhooks',
              ({ webhookUrl, webhookEnabled }) =>
                webhookUrl === null ? 'none' : `${webhookUrl}${webhookEnabled ? '' : ' (off)'}`,
            ],
          ]}
        />
        <OperatorTable
          caption="Accounts at acquirers"
          empty="The merchant uses the default account of the acquirer."
          rows={accounts.merchantAccounts}
          columns={[
            ['Mode', ({ mode }) => mode],
            ['Acquirer', ({ acquirer }) => acquirer],
            ['Account', ({ accountReference }) => accountReference],
          ]}
        />
        <OperatorTable
          caption="Grants of partners"
          empty="No partner may report vouchers or external payments."
          rows={grants}
          columns={[
            ['Partner', ({ organisationId }) => <a href={`/operator/partners/${organisationId}`}>{organisationId}</a>],
            ['Vouchers', ({ vouchers }) => (vouchers ? 'yes' : 'no')],
            ['External payments', ({ externalPayments }) => (externalPayments ? 'yes' : 'no')],
          ]}
        />
        {canOperate(viewer.operatorRole, 'change') ? <Forms {...{ viewer, merchant }} /> : null}
      </>
    ),
  });
}

interface FormProps {
  readonly viewer: OperatorViewer;
  readonly merchant: Merchant;
  readonly title: string;
  readonly action: string;
  readonly button: string;
  readonly children: ComponentChildren;
}

/** A form that changes something of the merchant. */
function MerchantForm({ viewer, merchant, title, action, button, children }: FormProps) {
  return (
    <section class="card form">
      <h2>{title}</h2>
      <PostForm viewer={viewer} action={`/operator/merchants/${merchant.merchantId}/${action}`} data-once>
        {children}
        <button>{button}</button>
      </PostForm>
    </section>
  );
}

function Forms(page: Pick<MerchantPage, 'viewer' | 'merchant'>) {
  return (
    <>
      <MerchantForm {...page} title="Owner" action="people" button="Invite the owner">
        <TextField label="E-mail" name="email" maxLength={254} />
      </MerchantForm>
      <MerchantForm {...page} title="New site" action="sites" button="Create the site">
        <TextField label="Name that payers see" name="name" />
        <TextField label="The merchant's own reference" name="siteReference" />
      </MerchantForm>
      <MerchantForm {...page} title="New API key" action="keys" button="Create a key">
        <ModeChoice />
      </MerchantForm>
      <MerchantForm {...page} title="Account at an acquirer" action="account" button="Set the account">
        <ModeChoice />
        <TextField label="Account" name="accountReference" />
        <TextField label="Acquirer (empty: the first one)" name="acquirer" isOptional />
      </MerchantForm>
      <SettingsForm {...page} />
      <FeesForm {...page} />
      <FeaturesForm {...page} />
      <MerchantForm {...page} title="Grant of a partner" action="grants" button="Set the grant">
        <TextField label="Partner (organisationId)" name="organisationId" maxLength={36} />
        <Checkbox label="Vouchers" name="vouchers" />
        <Checkbox label="External payments" name="externalPayments" />
      </MerchantForm>
    </>
  );
}

function SettingsForm(page: Pick<MerchantPage, 'viewer' | 'merchant'>) {
  const { name, minimumAmount, maximumAmount } = page.merchant;
  return (
    <MerchantForm {...page} title="Settings" action="settings" button="Change the settings">
      <TextField label="Name that payers see" name="name" value={name} />
      <TextField label="New time zone (empty: no change)" name="timeZone" isOptional />
      <TextField label="Minimum of an edited amount, in cents" name="minimumAmount" value={minimumAmount} />
      <TextField
        label="Maximum of an edited amount, in cents (empty: the default)"
        name="maximumAmount"
        value={maximumAmount ?? ''}
        isOptional
      />
    </MerchantForm>
  );
}

function FeesForm(page: Pick<MerchantPage, 'viewer' | 'merchant'>) {
  const { fees } = page.merchant;
  return (
    <MerchantForm {...page} title="Fees of a card payment" action="fees" button="Change the fees">
      {(['test', 'live'] as const).map((mode) => (
        <>
          <TextField
            label={`Basis points, ${mode} (290 is 2.9 %)`}
            name={`${mode}BasisPoints`}
            value={fees[mode]?.basisPoints ?? 0}
          />
          <TextField label={`Cents, ${mode}`} name={`${mode}FixedAmount`} value={fees[mode]?.fixedAmount ?? 0} />
        </>
      ))}
    </MerchantForm>
  );
}

function FeaturesForm(page: Pick<MerchantPage, 'viewer' | 'merchant'>) {
  const { amount, tip, orderReference } = page.merchant.features;
  return (
    <MerchantForm {...page} title="Features of the payment page" action="features" button="Change the features">
      <Checkbox label="Payers may change the amount" name="amountEditable" checked={amount?.editable} />
      <Checkbox label="Payers may add a tip" name="tipEnabled" checked={tip?.enabled} />
      <TextField
        label="Label of the order reference"
        name="orderReferenceLabel"
        value={orderReference?.label}
        isOptional
      />
      <Checkbox
        label="Payers may change the order reference"
        name="orderReferenceEditable"
        checked={orderReference?.editable}
      />
      <Checkbox
        label="The order reference is required"
        name="orderReferenceRequired"
        checked={orderReference?.required}
      />
    </MerchantForm>
  );
}

function Checkbox({ label, name, checked }: { label: string; name: string; checked?: boolean | undefined }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} checked={checked ?? false} /> {label}
    </label>
  );
}
