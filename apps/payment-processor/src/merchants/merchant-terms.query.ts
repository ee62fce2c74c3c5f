import { Inject, Injectable } from '@nestjs/common';
import type { MerchantFeatures } from '@svc/contracts';
import { DataSource } from 'typeorm';

/** What a merchant lets payers do. */
export interface PayerTerms {
  readonly features: MerchantFeatures;
  /** Cents: the least that may be paid of a larger debt where its amount may be edited. */
  readonly minimumAmount: number;
}

/** The terms of merchants, from this service's own copy of what identity published. */
@Injectable()
export class MerchantTermsQuery {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Undefined until identity's event has arrived. */
  async find(merchantId: number): Promise<PayerTerms | undefined> {
    const [row] = await this.dataSource.query<PayerTerms[]>(
      `SELECT features, minimum_amount AS "minimumAmount" FROM known_merchants WHERE merchant_id = $1`,
      [merchantId],
    );
    return row;
  }
}
