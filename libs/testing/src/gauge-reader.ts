import { type Attributes, metrics } from '@opentelemetry/api';
import { type DataPoint, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';

/** Reads the metrics of this process, as a collector would. Call `begin` before any meter is created. */
export class GaugeReader extends MetricReader {
  static begin(): GaugeReader {
    const reader = new GaugeReader();
    metrics.disable();
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    return reader;
  }

  end(): void {
    metrics.disable();
  }

  async read(name: string): Promise<{ value: unknown; attributes: Attributes }[]> {
    const { resourceMetrics } = await this.collect();
    return resourceMetrics.scopeMetrics
      .flatMap((scope) => scope.metrics)
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }): DataPoint<unknown>[] => dataPoints)
      .map(({ value, attributes }) => ({ value, attributes }));
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}
