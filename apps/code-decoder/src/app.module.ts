import { Module } from '@nestjs/common';
import { adminKeyFrom, CredentialsConsumer, deadLettersOf } from '@svc/auth';
import { CodeDecoderConfig } from './config.js';
import { CloseInvoice } from './invoices/close-invoice.js';
import { CreateInvoice } from './invoices/create-invoice.js';
import { InvoiceRepository } from './invoices/invoice.repository.js';
import { InvoicesController } from './invoices/invoices.controller.js';
import { PayablesConsumer } from './invoices/payables.consumer.js';
import { MerchantsConsumer } from './merchants/merchants.consumer.js';
import { TillCodes } from './tills/till-codes.js';
import { TillsController } from './tills/tills.controller.js';

@Module({
  controllers: [
    InvoicesController,
    TillsController,
    PayablesConsumer,
    CredentialsConsumer,
    MerchantsConsumer,
    deadLettersOf('code-decoder'),
  ],
  providers: [CloseInvoice, CreateInvoice, InvoiceRepository, TillCodes, adminKeyFrom(CodeDecoderConfig)],
})
export class CodeDecoderModule {}
