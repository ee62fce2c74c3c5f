import type { SettlementAccount, SettlementTotals } from '@svc/contracts';
import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format.js';
import { SiteChoice } from '../layout/form-elements.js';
import { pathOf } from '../layout/layout.js';
import { siteName } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { findNeighbours } from './periods.js';
import type { Summary } from './summary.js';

/** A page of a month or of a day. */
export interface PeriodPage {
  readonly viewer: MerchantViewer;
  /** `2026-11` or `2026-11-20`. */
  readonly period: string;
  /** Undefined for all sites of the merchant. */
  readonly siteId: number | undefined;
  readonly account: SettlementAccount;
  /** The merchant's present day. */
  readonly today: string;
}

/** `November 2026`, or the day as it is. */
export function formatPeriod({ texts }: Pick<MerchantViewer, 'texts'>, period: string): string {
  const [year, month, day] = period.split('-');
  return day === undefined ? `${texts.settlements.months[Number(month) - 1]!} ${year}` : period;
}

/** The address of another period, with the same site. */
export function pathOfPeriod(page: Pick<PeriodPage, 'viewer' | 'siteId'>, period: string): string {
  const isDay = period.length > 'YYYY-MM'.length;
  const query = new URLSearchParams({
    ...(isDay ? {} : { month: period }),
    ...(page.siteId === undefined ? {} : { site: String(page.siteId) }),
  }).toString();
  return `${pathOf(page.viewer)}/settlements${isDay ? `/${period}` : ''}${query === '' ? '' : `?${query}`}`;
}

/** The neighbours of the period, the choice of the site, and the file. */
export function PeriodNavigation(page: PeriodPage) {
  const { viewer, period, siteId, today } = page;
  const { settlements: words } = viewer.texts;
  const { before, after } = findNeighbours(period, today);
  const file = new URLSearchParams({ period, ...(siteId === undefined ? {} : { site: String(siteId) }) }).toString();
  return (
    <nav class="pages periods" aria-label={words.periods}>
      {before === undefined ? null : <a href={pathOfPeriod(page, before)}>{`← ${formatPeriod(viewer, before)}`}</a>}
      {after === undefined ? null : <a href={pathOfPeriod(page, after)}>{`${formatPeriod(viewer, after)} →`}</a>}
      {viewer.can('exports.read', siteId) ? (
        <a href={`${pathOf(viewer)}/settlements.csv?${file}`} download>
          {viewer.texts.payments.csv}
        </a>
      ) : null}
    </nav>
  );
}

/** The choice of a month and of a site. */
export function PeriodForm({ viewer, period, siteId }: Pick<PeriodPage, 'viewer' | 'period' | 'siteId'>) {
  const { texts, scope } = viewer;
  return (
    <form class="filters" method="get" action={`${pathOf(viewer)}/settlements`}>
      <label>
        {texts.settlements.month}
        <input type="month" name="month" value={period} placeholder="2026-11" pattern="\d{4}-\d{2}" />
      </label>
      <SiteChoice viewer={viewer} chosen={siteId} any={scope.sites === 'all' ? texts.merchant.allSites : undefined} />
      <button>{texts.payments.apply}</button>
    </form>
  );
}

/** The site to which the numbers belong, if the merchant has several. */
export function SiteOfPeriod({ viewer, siteId }: Pick<PeriodPage, 'viewer' | 'siteId'>) {
  if (viewer.merchant.sites.length < 2) return null;
  return <p>{siteId === undefined ? viewer.texts.merchant.allSites : siteName(viewer, siteId)}</p>;
}

/** Whether the numbers can still change, with the seal that proves them. */
export function SettlementStatus({ viewer, account: { statement } }: Pick<PeriodPage, 'viewer' | 'account'>) {
  const { status, zone, seal: sealText } = viewer.texts.settlements;
  return (
    <>
      <p class={`settled ${statement.status}`}>{status[statement.status]}</p>
      {statement.seal ? (
        <p class="small">
          {fill(sealText, { number: statement.seal.number })} <code>{statement.seal.hash}</code>
        </p>
      ) : null}
      <p class="small">{fill(zone, { zone: statement.timeZone })}</p>
    </>
  );
}

/** How the balance changed, from the opening to the closing balance. */
export function AccountTable({ viewer, summary }: { viewer: MerchantViewer; summary: Summary }) {
  const { texts } = viewer;
  const { account: words } = texts.settlements;
  const format = (cents: number): string => formatAmount(cents, summary.currency, texts);
  const changes = (['sales', 'refunds', 'disputes', 'fees'] as const).map((name) => [name, summary[name]] as const);
  return (
    <table class="account">
      <caption>{words.title}</caption>
      <tbody>
        <tr>
          <th scope="row">{words.opening}</th>
          <td class="number">{format(summary.opening)}</td>
        </tr>
        {changes.map(([name, cents]) => (
          <tr>
            <th scope="row">{words[name]}</th>
            <td class="number">{format(cents)}</td>
          </tr>
        ))}
        <tr class="total">
          <th scope="row">{words.closing}</th>
          <td class="number">{format(summary.closing)}</td>
        </tr>
        {summary.onTheWay === 0 ? null : (
          <tr>
            <th scope="row">
              {words.onTheWay}
              <small>{words.onTheWayNote}</small>
            </th>
            <td class="number">{format(summary.onTheWay)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** The kinds of movements with their signs, in the order of the statement. */
const KINDS = [
  ['payments', 1],
  ['externalPayments', 1],
  ['vouchers', 1],
  ['reversals', -1],
  ['refunds', -1],
  ['refundReturns', 1],
  ['disputes', -1],
  ['disputeReversals', 1],
  ['fees', -1],
  ['feeReversals', 1],
] as const;

/** Number and amount of each kind of movement that the period has. */
export function KindsTable({ viewer, totals }: { viewer: MerchantViewer; totals: SettlementTotals }) {
  const { texts } = viewer;
  const { kinds, columns } = texts.settlements;
  const format = (cents: number): string => formatAmount(cents, totals.currencyISOCode, texts);
  return (
    <details>
      <summary>{kinds.title}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{columns.kind}</th>
            <th scope="col" class="number">
              {columns.count}
            </th>
            <th scope="col" class="number">
              {texts.payments.amount}
            </th>
          </tr>
        </thead>
        <tbody>
          {KINDS.filter(([name]) => totals[name].count > 0).map(([name, sign]) => (
            <tr>
              <th scope="row">{kinds[name]}</th>
              <td class="number">{totals[name].count}</td>
              <td class="number">{format(sign * totals[name].amount)}</td>
            </tr>
          ))}
          <tr class="total">
            <th scope="row">{columns.net}</th>
            <td />
            <td class="number">{format(totals.net)}</td>
          </tr>
        </tbody>
      </table>
    </details>
  );
}
