import { formatAmount } from '../languages/format.js';
import { BarChart } from '../layout/bar-chart.js';
import type { MerchantViewer } from '../viewer/viewer.js';

interface HourChart {
  readonly viewer: MerchantViewer;
  readonly currency: string;
  /** Cents by hour since the beginning of the day. */
  readonly hours: ReadonlyMap<number, number>;
  /** Local times at which the hours begin, such as `08:00`. */
  readonly labels: readonly string[];
}

/** Sales by hour as bars, with the same numbers as a table behind it. */
export function HourChart({ viewer: { texts }, currency, hours, labels }: HourChart) {
  const format = (cents: number): string => formatAmount(cents, currency, texts);
  return (
    <BarChart
      title={texts.today.byHour}
      bars={labels.map((label, hour) => ({ label, name: label, cents: hours.get(hour) ?? 0 }))}
      labelStep={3}
      format={format}
    >
      <details id="hours-table">
        <summary>{texts.today.table}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.today.hour}</th>
              <th scope="col" class="number">
                {texts.today.sales}
              </th>
            </tr>
          </thead>
          <tbody>
            {[...hours]
              .toSorted(([a], [b]) => a - b)
              .map(([hour, cents]) => (
                <tr>
                  <th scope="row">{labels[hour] ?? hour}</th>
                  <td class="number">{format(cents)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </BarChart>
  );
}
