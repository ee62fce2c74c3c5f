import { formatAmount } from '../languages/format.js';
import { BarChart } from '../layout/bar-chart.js';
import type { MerchantViewer } from '../viewer/viewer.js';

interface DayChart {
  readonly viewer: MerchantViewer;
  readonly currency: string;
  /** The sales of each day in cents, in order. */
  readonly days: readonly { readonly day: string; readonly sales: number }[];
}

/** Sales by day as bars. The table of the days below it has the same numbers. */
export function DayChart({ viewer: { texts }, currency, days }: DayChart) {
  return (
    <BarChart
      title={texts.settlements.salesByDay}
      bars={days.map(({ day, sales }) => ({ label: String(Number(day.slice(-2))), name: day, cents: sales }))}
      labelStep={5}
      format={(cents) => formatAmount(cents, currency, texts)}
    />
  );
}
