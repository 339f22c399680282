import js from "@eslint/js";
import globals from "globals";

// What each folder of static/js may import from; only pages' own scripts, beside the folders, may import from all.
const BELOW = {
  shared: [],
  saving: ["shared"],
  desk: ["shared", "saving"],
  nuggets: ["shared", "saving", "desk"],
  judge: ["shared", "saving", "desk"],
};

const layers = Object.entries(BELOW).map(([folder, below]) => ({
  files: [`static/js/${folder}/**/*.js`],
  rules: {
    "no-restricted-imports": [
      "error",
      { patterns: [{ regex: `^\\.\\./(?!(${below.join("|")})/)`, message: `${folder} may import only from: ${below}` }] },
    ],
  },
}));

export default [
  { ignores: ["node_modules/", ".venv/", "var/", "staticfiles/"] },
  js.configs.recommended,
  {
    files: ["static/js/**/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-shadow": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
  ...layers,
];
