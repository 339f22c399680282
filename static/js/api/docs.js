/** The API's description, shown by Swagger UI. In a file of its own, because no page may hold a script. */

const place = document.getElementById("swagger");

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
  syntaxHighlight: false,
});
