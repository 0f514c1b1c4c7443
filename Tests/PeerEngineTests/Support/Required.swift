import Testing

/// Returns the value of a mutating call, which `#require` cannot make itself.
func required<Value>(_ value: Value?, sourceLocation: SourceLocation = #_sourceLocation) throws -> Value {
  try #require(value, sourceLocation: sourceLocation)
}
