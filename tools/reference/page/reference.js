/* global SwaggerUIBundle */
const place = document.querySelector('#reference');
SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  // Credentials are typed into no page of documentation.
  supportedSubmitMethods: [],
  validatorUrl: null,
});
