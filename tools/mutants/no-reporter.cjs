module.exports = class {};
