// Made by tools/reference/generate.ts from the types of libs/contracts. Do not edit.

/** JSON Schemas as text: `event:<type>`, `request:<type>` and `reply:<type>`, and what they refer to. */
export const MESSAGE_SCHEMAS: Readonly<Record<string, string>> = {
  Administered:
    '{"type":"object","properties":{"action":{"type":"string"},"actor":{"type":"string"},"requestId":{"type":"string"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"credentialId":{"type":"string"},"before":{"type":"object","additionalProperties":{}},"after":{"type":"object","additionalProperties":{}}},"required":["action","actor","requestId","after"]}',
  ApiKeyChanged:
    '{"type":"object","properties":{"keyId":{"type":"string"},"kind":{"type":"string","enum":["merchant","site"]},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"hash":{"type":"string"},"revoked":{"type":"boolean"}},"required":["keyId","kind","mode","merchantId","hash","revoked"]}',
  BookDigest:
    '{"type":"object","properties":{"count":{"type":"integer"},"amount":{"type":"integer"},"hash":{"type":"string"},"open":{"type":"number"},"merchantId":{"type":"integer"},"mode":{"$ref":"#/$defs/Mode"}},"required":["count","amount","hash","open","merchantId","mode"]}',
  BookLine:
    '{"type":"object","properties":{"key":{"type":"string"},"line":{"type":["object","null"],"additionalProperties":{}},"open":{"type":"boolean"}},"required":["key","line","open"]}',
  BookOwner:
    '{"type":"object","properties":{"merchantId":{"type":"integer"},"mode":{"$ref":"#/$defs/Mode"}},"required":["merchantId","mode"]}',
  BrowserData:
    '{"type":"object","properties":{"acceptHeader":{"type":"string"},"userAgent":{"type":"string"},"language":{"type":"string"},"screenWidth":{"type":"number"},"screenHeight":{"type":"number"},"colorDepth":{"type":"number"},"timeZoneOffsetMinutes":{"type":"number"},"javaScriptEnabled":{"type":"boolean"}}}',
  ChargeCard:
    '{"type":"object","properties":{"payable":{"type":"object","properties":{"payableId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"amount":{"type":"integer"},"currencyISOCode":{"type":"string"},"expiresAt":{"type":"string"},"triesMax":{"type":"number"},"source":{"$ref":"#/$defs/HostedSessionSource"}},"required":["payableId","mode","merchantId","siteId","amount","currencyISOCode","expiresAt","triesMax","source"]},"reference":{"type":"string"},"try":{"type":"number"},"encryptedCard":{"type":"string"},"payerReturnUrl":{"type":"string"},"payer":{"$ref":"#/$defs/PayerContext"},"deadline":{"type":"string"}},"required":["payable","reference","try","encryptedCard","payerReturnUrl","deadline"]}',
  ChargeInvoice:
    '{"type":"object","properties":{"payable":{"type":"object","properties":{"payableId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"amount":{"type":"integer"},"currencyISOCode":{"type":"string"},"expiresAt":{"type":"string"},"triesMax":{"type":"number"},"source":{"$ref":"#/$defs/InvoiceSource"}},"required":["payableId","mode","merchantId","siteId","amount","currencyISOCode","expiresAt","triesMax","source"]},"amount":{"type":"integer"},"tipAmount":{"type":"integer"},"reference":{"type":"string"},"try":{"type":"number"},"encryptedCard":{"type":"string"},"payerReturnUrl":{"type":"string"},"payer":{"$ref":"#/$defs/PayerContext"},"deadline":{"type":"string"}},"required":["payable","amount","tipAmount","reference","try","encryptedCard","payerReturnUrl","deadline"]}',
  CodeSource:
    '{"type":"object","properties":{"kind":{"const":"code"},"origin":{"type":"string"},"originReference":{"type":"string"},"invoiceReference":{"type":"string"},"siteReference":{"type":"string"}},"required":["kind","origin","siteReference"]}',
  CustomerRegistered:
    '{"type":"object","properties":{"customerReference":{"type":"string"},"organisationId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"firstName":{"type":"string"},"lastName":{"type":"string"}},"required":["customerReference","organisationId","mode","firstName","lastName"]}',
  Delivery:
    '{"type":"object","properties":{"id":{"type":"string"},"webhookId":{"type":"string"},"recipient":{"type":"string","enum":["session","site"]},"type":{"type":"string","enum":["payment","refund"]},"sessionId":{"type":["string","null"]},"paymentReference":{"type":"string"},"paymentStatus":{"type":"string","enum":["Failed","Success"]},"url":{"type":"string"},"state":{"type":"string","enum":["delivered","exhausted","gone","pending","superseded"]},"attemptCount":{"type":"number"},"createdUTCDate":{"type":"string"},"deliveredUTCDate":{"type":["string","null"]},"nextAttemptUTCDate":{"type":["string","null"]},"missingKeys":{"type":["array","null"],"items":{"type":"string","enum":["api-key","webhook-secret"]}},"lastAttempt":{"anyOf":[{"$ref":"#/$defs/DeliveryAttempt"},{"type":"null"}]}},"required":["id","webhookId","recipient","type","sessionId","paymentReference","paymentStatus","url","state","attemptCount","createdUTCDate","deliveredUTCDate","nextAttemptUTCDate","missingKeys","lastAttempt"]}',
  DeliveryAttempt:
    '{"type":"object","properties":{"attemptNumber":{"type":"number"},"startedUTCDate":{"type":"string"},"durationMs":{"type":"number"},"outcome":{"type":"string","enum":["acknowledged","refused","unanswered"]},"statusCode":{"type":["number","null"]},"errorClass":{"type":["string","null"]},"answer":{"type":["string","null"]}},"required":["attemptNumber","startedUTCDate","durationMs","outcome","statusCode","errorClass","answer"]}',
  DeliveryOwner:
    '{"type":"object","properties":{"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"mode":{"$ref":"#/$defs/Mode"}},"required":["merchantId","siteId","mode"]}',
  DeliveryPage:
    '{"type":"object","properties":{"deliveries":{"type":"array","items":{"$ref":"#/$defs/Delivery"}},"after":{"type":"string"},"hasMore":{"type":"boolean"}},"required":["deliveries","hasMore"]}',
  DeliveryRequest:
    '{"type":"object","properties":{"owner":{"$ref":"#/$defs/DeliveryOwner"},"id":{"type":"string"}},"required":["owner","id"]}',
  DeliveryWithAttempts:
    '{"type":"object","properties":{"attempts":{"type":"array","items":{"$ref":"#/$defs/DeliveryAttempt"}},"id":{"type":"string"},"webhookId":{"type":"string"},"recipient":{"type":"string","enum":["session","site"]},"type":{"type":"string","enum":["payment","refund"]},"sessionId":{"type":["string","null"]},"paymentReference":{"type":"string"},"paymentStatus":{"type":"string","enum":["Failed","Success"]},"url":{"type":"string"},"state":{"type":"string","enum":["delivered","exhausted","gone","pending","superseded"]},"attemptCount":{"type":"number"},"createdUTCDate":{"type":"string"},"deliveredUTCDate":{"type":["string","null"]},"nextAttemptUTCDate":{"type":["string","null"]},"missingKeys":{"type":["array","null"],"items":{"type":"string","enum":["api-key","webhook-secret"]}},"lastAttempt":{"anyOf":[{"$ref":"#/$defs/DeliveryAttempt"},{"type":"null"}]}},"required":["attempts","id","webhookId","recipient","type","sessionId","paymentReference","paymentStatus","url","state","attemptCount","createdUTCDate","deliveredUTCDate","nextAttemptUTCDate","missingKeys","lastAttempt"]}',
  DigestPage:
    '{"type":"object","properties":{"digests":{"type":"array","items":{"$ref":"#/$defs/BookDigest"}},"keptSince":{"type":"string"}},"required":["digests"]}',
  DigestRequest:
    '{"type":"object","properties":{"book":{"type":"string"},"merchantId":{"type":"integer"},"after":{"$ref":"#/$defs/BookOwner"},"from":{"type":"string"},"until":{"type":"string"}},"required":["book","from","until"]}',
  FeeTerms:
    '{"type":"object","properties":{"basisPoints":{"type":"number"},"fixedAmount":{"type":"integer"}},"required":["basisPoints","fixedAmount"]}',
  HostedApiVersion: '{"type":"string","enum":["v3","v3.1"]}',
  HostedSessionSource:
    '{"type":"object","properties":{"kind":{"const":"session"},"sessionId":{"type":"string"},"apiVersion":{"$ref":"#/$defs/HostedApiVersion"},"merchantOrderId":{"type":"string"},"notificationUrl":{"type":"string"},"code":{"type":"string"}},"required":["kind","sessionId","apiVersion","merchantOrderId","notificationUrl"]}',
  InvoiceCreated:
    '{"type":"object","properties":{"payable":{"type":"object","properties":{"payableId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"amount":{"type":"integer"},"currencyISOCode":{"type":"string"},"expiresAt":{"type":"string"},"triesMax":{"type":"number"},"source":{"$ref":"#/$defs/InvoiceSource"}},"required":["payableId","mode","merchantId","siteId","amount","currencyISOCode","expiresAt","triesMax","source"]},"origin":{"type":"string"},"originReference":{"type":"string"},"createdUTCDate":{"type":"string"},"lineItems":{"type":"array","items":{"$ref":"#/$defs/LineItem"}}},"required":["payable","origin","createdUTCDate"]}',
  InvoiceSource:
    '{"type":"object","properties":{"kind":{"const":"invoice"},"invoiceReference":{"type":"string"},"externalReference":{"type":"string"},"siteReference":{"type":"string"},"code":{"type":"string"}},"required":["kind","invoiceReference","siteReference","code"]}',
  LineItem:
    '{"type":"object","properties":{"name":{"type":"string"},"productCode":{"type":"string"},"sku":{"type":"string"},"unitPrice":{"type":"string"},"categories":{"type":"array","items":{"type":"string"}},"quantity":{"type":"number"}},"required":["unitPrice"]}',
  LinesPage:
    '{"type":"object","properties":{"lines":{"type":"array","items":{"$ref":"#/$defs/BookLine"}}},"required":["lines"]}',
  LinesRequest:
    '{"type":"object","properties":{"book":{"type":"string"},"after":{"type":"string"},"from":{"type":"string"},"until":{"type":"string"},"merchantId":{"type":"integer"},"mode":{"$ref":"#/$defs/Mode"}},"required":["book","from","until","merchantId","mode"]}',
  ListDeliveries:
    '{"type":"object","properties":{"owner":{"$ref":"#/$defs/DeliveryOwner"},"state":{"type":"string","enum":["delivered","exhausted","gone","pending","superseded"]},"after":{"type":"string"}},"required":["owner"]}',
  MerchantChanged:
    '{"type":"object","properties":{"merchantId":{"type":"integer"},"name":{"type":"string"},"features":{"$ref":"#/$defs/MerchantFeatures"},"minimumAmount":{"type":"integer"},"maximumAmount":{"type":"integer"},"grants":{"type":"array","items":{"$ref":"#/$defs/MerchantGrant"}},"fees":{"type":"object","properties":{"test":{"$ref":"#/$defs/FeeTerms"},"live":{"$ref":"#/$defs/FeeTerms"}}}},"required":["merchantId","name","features","grants"]}',
  MerchantFeatures:
    '{"type":"object","properties":{"amount":{"type":"object","properties":{"editable":{"type":"boolean"}}},"orderReference":{"type":"object","properties":{"label":{"type":"string"},"editable":{"type":"boolean"},"required":{"type":"boolean"}}},"tip":{"type":"object","properties":{"enabled":{"type":"boolean"}}}}}',
  MerchantGrant:
    '{"type":"object","properties":{"organisationId":{"type":"string"},"vouchers":{"type":"boolean"},"externalPayments":{"type":"boolean"}},"required":["organisationId","vouchers","externalPayments"]}',
  Mode: '{"type":"string","enum":["live","test"]}',
  NotifiedSite:
    '{"type":"object","properties":{"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"since":{"type":"string"}},"required":["merchantId","siteId","since"]}',
  OpenPayable:
    '{"type":"object","properties":{"payable":{"type":"object","properties":{"payableId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"amount":{"type":"integer"},"currencyISOCode":{"type":"string"},"expiresAt":{"type":"string"},"triesMax":{"type":"number"},"source":{"$ref":"#/$defs/PayableSource"}},"required":["payableId","mode","merchantId","siteId","amount","currencyISOCode","expiresAt","triesMax","source"]},"replaces":{"type":"object","properties":{"payableId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"amount":{"type":"integer"},"currencyISOCode":{"type":"string"},"expiresAt":{"type":"string"},"triesMax":{"type":"number"},"source":{"$ref":"#/$defs/PayableSource"}},"required":["payableId","mode","merchantId","siteId","amount","currencyISOCode","expiresAt","triesMax","source"]}},"required":["payable"]}',
  OpenedPayable:
    '{"type":"object","properties":{"opened":{"$ref":"#/$defs/PayableSnapshot"},"replaced":{"$ref":"#/$defs/PayableSnapshot"}},"required":["opened"]}',
  PartnerKeyChanged:
    '{"type":"object","properties":{"keyId":{"type":"string"},"organisationId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"hash":{"type":"string"},"revoked":{"type":"boolean"}},"required":["keyId","organisationId","mode","hash","revoked"]}',
  PayableSnapshot:
    '{"type":"object","properties":{"payableId":{"type":"string"},"state":{"$ref":"#/$defs/PayableState"},"version":{"type":"number"},"tries":{"type":"number"}},"required":["payableId","state","version","tries"]}',
  PayableSource: '{"anyOf":[{"$ref":"#/$defs/HostedSessionSource"},{"$ref":"#/$defs/InvoiceSource"}]}',
  PayableState: '{"type":"string","enum":["closed","open","paid","refused","reserved"]}',
  PayerContext:
    '{"type":"object","properties":{"address":{"type":"string"},"browser":{"$ref":"#/$defs/BrowserData"},"email":{"type":"string"}}}',
  PaymentCustomer:
    '{"type":"object","properties":{"id":{"type":"string"},"firstName":{"type":"string"},"lastName":{"type":"string"}},"required":["id","firstName","lastName"]}',
  PaymentError:
    '{"type":"object","properties":{"errorReference":{"type":"string"},"message":{"type":"string"}},"required":["errorReference","message"]}',
  PaymentMethodType: '{"type":"string","enum":["Card","External","Voucher"]}',
  PaymentPartner:
    '{"type":"object","properties":{"organisationId":{"type":"string"},"customer":{"$ref":"#/$defs/PaymentCustomer"}},"required":["organisationId","customer"]}',
  PaymentSnapshot:
    '{"type":"object","properties":{"reference":{"type":"string"},"paymentReference":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"state":{"$ref":"#/$defs/PaymentState"},"currencyISOCode":{"type":"string"},"invoicedAmount":{"type":"integer"},"amount":{"type":"integer"},"tipAmount":{"type":"integer"},"processedAmount":{"type":"integer"},"paymentUTCDate":{"type":"string"},"modifiedUTCDate":{"type":"string"},"paymentMethodType":{"$ref":"#/$defs/PaymentMethodType"},"paymentMethodLabel":{"type":"string"},"errors":{"type":"array","items":{"$ref":"#/$defs/PaymentError"}},"verificationUrl":{"type":"string"},"verificationUntilUTCDate":{"type":"string"},"reversedUTCDate":{"type":"string"},"refund":{"$ref":"#/$defs/RefundNotice"},"source":{"$ref":"#/$defs/PaymentSource"},"payable":{"$ref":"#/$defs/PayableSnapshot"},"partner":{"$ref":"#/$defs/PaymentPartner"},"merchantName":{"type":"string"},"siteReference":{"type":"string"},"orderReference":{"type":"string"},"externalPaymentReference":{"type":"string"},"invoiceReference":{"type":"string"},"invoiceExternalReference":{"type":"string"},"vouchers":{"type":"array","items":{"$ref":"#/$defs/Voucher"}}},"required":["reference","paymentReference","mode","merchantId","siteId","state","currencyISOCode","invoicedAmount","amount","tipAmount","processedAmount","paymentUTCDate","modifiedUTCDate","paymentMethodType","paymentMethodLabel","errors","source","payable"]}',
  PaymentSource:
    '{"anyOf":[{"$ref":"#/$defs/CodeSource"},{"$ref":"#/$defs/HostedSessionSource"},{"$ref":"#/$defs/InvoiceSource"}]}',
  PaymentState: '{"type":"string","enum":["failed","processing","success","verificationRequired"]}',
  PublicKeyJwk:
    '{"type":"object","properties":{"kty":{"const":"EC"},"crv":{"const":"P-256"},"x":{"type":"string"},"y":{"type":"string"},"kid":{"type":"string"},"use":{"const":"enc"},"alg":{"const":"ECDH-ES"}},"required":["kty","crv","x","y","kid","use","alg"]}',
  RefundNotice:
    '{"type":"object","properties":{"refundReference":{"type":"string"},"amount":{"type":"integer"},"status":{"$ref":"#/$defs/RefundStatus"},"createdUTCDate":{"type":"string"}},"required":["refundReference","amount","status","createdUTCDate"]}',
  RefundStatus: '{"type":"string","enum":["failed","pending","succeeded"]}',
  RefundedPayment:
    '{"type":"object","properties":{"reference":{"type":"string"},"paymentReference":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"state":{"$ref":"#/$defs/PaymentState"},"currencyISOCode":{"type":"string"},"invoicedAmount":{"type":"integer"},"amount":{"type":"integer"},"tipAmount":{"type":"integer"},"processedAmount":{"type":"integer"},"paymentUTCDate":{"type":"string"},"modifiedUTCDate":{"type":"string"},"paymentMethodType":{"$ref":"#/$defs/PaymentMethodType"},"paymentMethodLabel":{"type":"string"},"errors":{"type":"array","items":{"$ref":"#/$defs/PaymentError"}},"verificationUrl":{"type":"string"},"verificationUntilUTCDate":{"type":"string"},"reversedUTCDate":{"type":"string"},"refund":{"$ref":"#/$defs/RefundNotice"},"source":{"$ref":"#/$defs/PaymentSource"},"payable":{"$ref":"#/$defs/PayableSnapshot"},"partner":{"$ref":"#/$defs/PaymentPartner"},"merchantName":{"type":"string"},"siteReference":{"type":"string"},"orderReference":{"type":"string"},"externalPaymentReference":{"type":"string"},"invoiceReference":{"type":"string"},"invoiceExternalReference":{"type":"string"},"vouchers":{"type":"array","items":{"$ref":"#/$defs/Voucher"}}},"required":["reference","paymentReference","mode","merchantId","siteId","state","currencyISOCode","invoicedAmount","amount","tipAmount","processedAmount","paymentUTCDate","modifiedUTCDate","paymentMethodType","paymentMethodLabel","errors","refund","source","payable"]}',
  ResendDelivery:
    '{"type":"object","properties":{"requestId":{"type":"string"},"owner":{"$ref":"#/$defs/DeliveryOwner"},"id":{"type":"string"}},"required":["owner","id"]}',
  ShowPayment:
    '{"type":"object","properties":{"payment":{"$ref":"#/$defs/PaymentSnapshot"},"version":{"type":"number"}},"required":["payment","version"]}',
  SigningSecretChanged:
    '{"type":"object","properties":{"secretId":{"type":"string"},"purpose":{"type":"string","enum":["api-key","webhook-secret"]},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"sealed":{"type":"string"},"primary":{"type":"boolean"},"revoked":{"type":"boolean"}},"required":["secretId","purpose","mode","merchantId","sealed","primary","revoked"]}',
  SiteChanged:
    '{"type":"object","properties":{"merchantId":{"type":"integer"},"merchantName":{"type":"string"},"siteId":{"type":"integer"},"siteReference":{"type":"string"},"name":{"type":"string"},"requireApiKey":{"type":"boolean"},"allowedHosts":{"type":"array","items":{"type":"string"}},"keylessMode":{"$ref":"#/$defs/Mode"},"webhookUrl":{"type":"string"},"webhookEnabled":{"type":"boolean"}},"required":["merchantId","merchantName","siteId","siteReference","name","requireApiKey","allowedHosts","keylessMode"]}',
  TillCodeMade:
    '{"type":"object","properties":{"code":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"siteReference":{"type":"string"}},"required":["code","mode","merchantId","siteId","siteReference"]}',
  TokenKeyChanged:
    '{"type":"object","properties":{"publicJwk":{"$ref":"#/$defs/TokenKeyJwk"},"withdrawn":{"type":"boolean"}},"required":["publicJwk","withdrawn"]}',
  TokenKeyJwk:
    '{"type":"object","properties":{"kty":{"const":"EC"},"crv":{"const":"P-256"},"x":{"type":"string"},"y":{"type":"string"},"kid":{"type":"string"},"use":{"const":"sig"},"alg":{"const":"ES256"}},"required":["kty","crv","x","y","kid","use","alg"]}',
  Voucher:
    '{"type":"object","properties":{"merchantLiable":{"type":"boolean"},"amount":{"type":"integer"}},"required":["merchantLiable","amount"]}',
  WebhookSecretChanged:
    '{"type":"object","properties":{"secretId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"revoked":{"type":"boolean"}},"required":["secretId","mode","merchantId","siteId","revoked"]}',
  'event:api-key.changed.v1': '{"$ref":"#/$defs/ApiKeyChanged"}',
  'event:card-key.published.v1':
    '{"type":"object","properties":{"publicJwk":{"$ref":"#/$defs/PublicKeyJwk"}},"required":["publicJwk"]}',
  'event:code-decoder.administered.v1': '{"$ref":"#/$defs/Administered"}',
  'event:credentials.heartbeat.v1': '{"type":"object"}',
  'event:customer.registered.v1': '{"$ref":"#/$defs/CustomerRegistered"}',
  'event:hosted-gateway.administered.v1': '{"$ref":"#/$defs/Administered"}',
  'event:invoice.created.v1': '{"$ref":"#/$defs/InvoiceCreated"}',
  'event:merchant-retrieval.administered.v1': '{"$ref":"#/$defs/Administered"}',
  'event:merchant.changed.v1': '{"$ref":"#/$defs/MerchantChanged"}',
  'event:partner-key.changed.v1': '{"$ref":"#/$defs/PartnerKeyChanged"}',
  'event:payable.closed.v1': '{"$ref":"#/$defs/PayableSnapshot"}',
  'event:payment-history.administered.v1': '{"$ref":"#/$defs/Administered"}',
  'event:payment-processor.administered.v1': '{"$ref":"#/$defs/Administered"}',
  'event:payment.failed.v1': '{"$ref":"#/$defs/PaymentSnapshot"}',
  'event:payment.needs-verification.v1': '{"$ref":"#/$defs/PaymentSnapshot"}',
  'event:payment.processing.v1': '{"$ref":"#/$defs/PaymentSnapshot"}',
  'event:payment.reversed.v1': '{"$ref":"#/$defs/PaymentSnapshot"}',
  'event:payment.succeeded.v1': '{"$ref":"#/$defs/PaymentSnapshot"}',
  'event:refund.failed.v1': '{"$ref":"#/$defs/RefundedPayment"}',
  'event:refund.succeeded.v1': '{"$ref":"#/$defs/RefundedPayment"}',
  'event:sealing-key.published.v1':
    '{"type":"object","properties":{"publicJwk":{"$ref":"#/$defs/PublicKeyJwk"}},"required":["publicJwk"]}',
  'event:session.created.v1':
    '{"type":"object","properties":{"payable":{"type":"object","properties":{"payableId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"amount":{"type":"integer"},"currencyISOCode":{"type":"string"},"expiresAt":{"type":"string"},"triesMax":{"type":"number"},"source":{"$ref":"#/$defs/HostedSessionSource"}},"required":["payableId","mode","merchantId","siteId","amount","currencyISOCode","expiresAt","triesMax","source"]}},"required":["payable"]}',
  'event:session.extended.v1':
    '{"type":"object","properties":{"payable":{"type":"object","properties":{"payableId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"amount":{"type":"integer"},"currencyISOCode":{"type":"string"},"expiresAt":{"type":"string"},"triesMax":{"type":"number"},"source":{"$ref":"#/$defs/HostedSessionSource"}},"required":["payableId","mode","merchantId","siteId","amount","currencyISOCode","expiresAt","triesMax","source"]}},"required":["payable"]}',
  'event:signing-secret.changed.v1': '{"$ref":"#/$defs/SigningSecretChanged"}',
  'event:site.changed.v1': '{"$ref":"#/$defs/SiteChanged"}',
  'event:till-code.made.v1': '{"$ref":"#/$defs/TillCodeMade"}',
  'event:token-key.changed.v1': '{"$ref":"#/$defs/TokenKeyChanged"}',
  'event:webhook-dispatcher.administered.v1': '{"$ref":"#/$defs/Administered"}',
  'event:webhook-secret.changed.v1': '{"$ref":"#/$defs/WebhookSecretChanged"}',
  'reply:charge-card.v1':
    '{"type":"object","properties":{"reference":{"type":"string"},"paymentReference":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"state":{"$ref":"#/$defs/PaymentState"},"currencyISOCode":{"type":"string"},"invoicedAmount":{"type":"integer"},"amount":{"type":"integer"},"tipAmount":{"type":"integer"},"processedAmount":{"type":"integer"},"paymentUTCDate":{"type":"string"},"modifiedUTCDate":{"type":"string"},"paymentMethodType":{"$ref":"#/$defs/PaymentMethodType"},"paymentMethodLabel":{"type":"string"},"errors":{"type":"array","items":{"$ref":"#/$defs/PaymentError"}},"verificationUrl":{"type":"string"},"verificationUntilUTCDate":{"type":"string"},"reversedUTCDate":{"type":"string"},"refund":{"$ref":"#/$defs/RefundNotice"},"source":{"$ref":"#/$defs/HostedSessionSource"},"payable":{"$ref":"#/$defs/PayableSnapshot"},"partner":{"$ref":"#/$defs/PaymentPartner"},"merchantName":{"type":"string"},"siteReference":{"type":"string"},"orderReference":{"type":"string"},"externalPaymentReference":{"type":"string"},"invoiceReference":{"type":"string"},"invoiceExternalReference":{"type":"string"},"vouchers":{"type":"array","items":{"$ref":"#/$defs/Voucher"}}},"required":["reference","paymentReference","mode","merchantId","siteId","state","currencyISOCode","invoicedAmount","amount","tipAmount","processedAmount","paymentUTCDate","modifiedUTCDate","paymentMethodType","paymentMethodLabel","errors","source","payable"]}',
  'reply:charge-invoice.v1': '{"$ref":"#/$defs/PaymentSnapshot"}',
  'reply:check-payments.v1': '{"type":"array","items":{"$ref":"#/$defs/PaymentSnapshot"}}',
  'reply:close-payable.v1': '{"$ref":"#/$defs/PayableSnapshot"}',
  'reply:digest-history.v1': '{"$ref":"#/$defs/DigestPage"}',
  'reply:digest-notifications.v1': '{"$ref":"#/$defs/DigestPage"}',
  'reply:digest-retrieval.v1': '{"$ref":"#/$defs/DigestPage"}',
  'reply:digest-sessions.v1': '{"$ref":"#/$defs/DigestPage"}',
  'reply:find-payable.v1': '{"type":"object","properties":{"payable":{"$ref":"#/$defs/PayableSnapshot"}}}',
  'reply:find-till-invoice.v1': '{"type":"object","properties":{"invoiceReference":{"type":"string"}}}',
  'reply:get-delivery.v1': '{"$ref":"#/$defs/DeliveryWithAttempts"}',
  'reply:list-deliveries.v1': '{"$ref":"#/$defs/DeliveryPage"}',
  'reply:list-history.v1': '{"$ref":"#/$defs/LinesPage"}',
  'reply:list-notifications.v1': '{"$ref":"#/$defs/LinesPage"}',
  'reply:list-notified-sites.v1':
    '{"type":"object","properties":{"sites":{"type":"array","items":{"$ref":"#/$defs/NotifiedSite"}}},"required":["sites"]}',
  'reply:list-retrieval.v1': '{"$ref":"#/$defs/LinesPage"}',
  'reply:list-sessions.v1': '{"$ref":"#/$defs/LinesPage"}',
  'reply:open-payable.v1': '{"$ref":"#/$defs/OpenedPayable"}',
  'reply:resend-delivery.v1': '{"type":"object","properties":{"due":{"const":true}},"required":["due"]}',
  'reply:show-payment.v1': '{"type":"object","properties":{"shown":{"const":true}},"required":["shown"]}',
  'request:charge-card.v1': '{"$ref":"#/$defs/ChargeCard"}',
  'request:charge-invoice.v1': '{"$ref":"#/$defs/ChargeInvoice"}',
  'request:check-payments.v1':
    '{"type":"object","properties":{"payableId":{"type":"string"}},"required":["payableId"]}',
  'request:close-payable.v1':
    '{"type":"object","properties":{"payable":{"type":"object","properties":{"payableId":{"type":"string"},"mode":{"$ref":"#/$defs/Mode"},"merchantId":{"type":"integer"},"siteId":{"type":"integer"},"amount":{"type":"integer"},"currencyISOCode":{"type":"string"},"expiresAt":{"type":"string"},"triesMax":{"type":"number"},"source":{"$ref":"#/$defs/PayableSource"}},"required":["payableId","mode","merchantId","siteId","amount","currencyISOCode","expiresAt","triesMax","source"]}},"required":["payable"]}',
  'request:digest-history.v1': '{"$ref":"#/$defs/DigestRequest"}',
  'request:digest-notifications.v1': '{"$ref":"#/$defs/DigestRequest"}',
  'request:digest-retrieval.v1': '{"$ref":"#/$defs/DigestRequest"}',
  'request:digest-sessions.v1': '{"$ref":"#/$defs/DigestRequest"}',
  'request:find-payable.v1': '{"type":"object","properties":{"payableId":{"type":"string"}},"required":["payableId"]}',
  'request:find-till-invoice.v1':
    '{"type":"object","properties":{"mode":{"$ref":"#/$defs/Mode"},"code":{"type":"string"}},"required":["code"]}',
  'request:get-delivery.v1': '{"$ref":"#/$defs/DeliveryRequest"}',
  'request:list-deliveries.v1': '{"$ref":"#/$defs/ListDeliveries"}',
  'request:list-history.v1': '{"$ref":"#/$defs/LinesRequest"}',
  'request:list-notifications.v1': '{"$ref":"#/$defs/LinesRequest"}',
  'request:list-notified-sites.v1': '{"type":"object","properties":{"after":{"type":"number"}}}',
  'request:list-retrieval.v1': '{"$ref":"#/$defs/LinesRequest"}',
  'request:list-sessions.v1': '{"$ref":"#/$defs/LinesRequest"}',
  'request:open-payable.v1': '{"$ref":"#/$defs/OpenPayable"}',
  'request:resend-delivery.v1': '{"$ref":"#/$defs/ResendDelivery"}',
  'request:show-payment.v1': '{"$ref":"#/$defs/ShowPayment"}',
};
