import { Controller, Inject } from '@nestjs/common';
import {
  ExportSettlementV1,
  ListSettlementMovementsV1,
  ReadSettlementV1,
  type SettlementAccount,
  type SettlementExport,
  type SettlementMovementPage,
  type SettlementPageRequest,
  type SettlementPeriod,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { ReadPeriods } from './read-periods.js';

/** Settlements for the people of the merchant, in the console (M7). The commands only read. */
@Controller()
export class PeriodsConsumer {
  constructor(@Inject(ReadPeriods) private readonly periods: ReadPeriods) {}

  @MessagePattern(ReadSettlementV1)
  read(request: SettlementPeriod): Promise<SettlementAccount> {
    return this.periods.read(request);
  }

  @MessagePattern(ListSettlementMovementsV1)
  list(request: SettlementPageRequest): Promise<SettlementMovementPage> {
    return this.periods.list(request);
  }

  @MessagePattern(ExportSettlementV1)
  export(request: SettlementPageRequest): Promise<SettlementExport> {
    return this.periods.export(request);
  }
}
