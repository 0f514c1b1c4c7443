import Testing

@Suite("placeholder")
struct PlaceholderTests {}
