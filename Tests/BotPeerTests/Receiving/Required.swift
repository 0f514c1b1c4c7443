import Testing

/// The value that a changing call gave, which `#require` cannot make itself.
func required<Value>(_ value: Value?, sourceLocation: SourceLocation = #_sourceLocation) throws -> Value {
  try #require(value, sourceLocation: sourceLocation)
}
