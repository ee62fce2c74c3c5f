/** Builds dashboards in the JSON of Grafana (schema 39), which a person can import, or a provisioner can read. */

export type Unit = 's' | 'percentunit' | 'short' | 'reqps' | 'bytes';

export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  /** PromQL by legend. */
  readonly queries: Readonly<Record<string, string>>;
  readonly kind?: 'timeseries' | 'stat';
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  /** Labels that the reader can choose, each with the series whose values it offers. */
  readonly variables: Readonly<Record<string, string>>;
  readonly panels: readonly Panel[];
}

const COLUMNS = 24;
const SIZE = { w: 8, h: 7 };
const SOURCE = { type: 'prometheus', uid: '${source}' };

export function toGrafana({ uid, title, variables, panels }: Dashboard): object {
  const perRow = COLUMNS / SIZE.w;
  return {
    uid,
    title,
    schemaVersion: 39,
    version: 1,
    editable: true,
    timezone: 'utc',
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    tags: ['svc'],
    templating: {
      list: [
        { name: 'source', type: 'datasource', query: 'prometheus', label: 'Source' },
        ...Object.entries(variables).map(([name, series]) => ({
          name,
          type: 'query',
          datasource: SOURCE,
          query: { query: `label_values(${series}, ${name})`, refId: name },
          refresh: 2,
          includeAll: true,
          multi: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        })),
      ],
    },
    panels: panels.map(({ title: panelTitle, unit, queries, kind = 'timeseries' }, index) => ({
      id: index + 1,
      title: panelTitle,
      type: kind,
      datasource: SOURCE,
      gridPos: { ...SIZE, x: (index % perRow) * SIZE.w, y: Math.floor(index / perRow) * SIZE.h },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      options: kind === 'stat' ? { reduceOptions: { calcs: ['lastNotNull'] } } : { legend: { displayMode: 'list' } },
      targets: Object.entries(queries).map(([legendFormat, expr], number) => ({
        refId: String.fromCharCode(65 + number),
        datasource: SOURCE,
        expr,
        legendFormat,
      })),
    })),
  };
}
