/* global SwaggerUIBundle */
const container = document.querySelector('#reference');
SwaggerUIBundle({
  url: container.dataset.document,
  domNode: container,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  // No "Try it out": users must not type credentials into the documentation.
  supportedSubmitMethods: [],
  validatorUrl: null,
});
