import SDP
import TestSupport
import Testing

@Suite("Damaged descriptions")
struct MutationTests {
  @Test("a damaged description is rejected or written back byte for byte", arguments: RoundTripTests.fixtures)
  func mutation(name: String) throws {
    let original = Array(try Fixture.text("\(name).sdp", in: .module).utf8)
    var generator = SeededGenerator(seed: 20_261_121)
    for _ in 0..<150 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...12, using: &generator) {
        Self.damage(&bytes, using: &generator)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      guard let description = try? SessionDescription(parsing: text) else { continue }
      #expect(Array(description.text.utf8) == Array(text.utf8))
      Self.readEverything(of: description)
    }
  }

  private static func damage(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
    guard !bytes.isEmpty else { return }
    let position = Int.random(in: 0..<bytes.count, using: &generator)
    let end = min(bytes.count, position + Int.random(in: 1...40, using: &generator))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: bytes[position] = UInt8.random(in: 0...255, using: &generator)
    case 1: bytes.removeSubrange(position..<end)
    case 2: bytes.insert(contentsOf: bytes[position..<end], at: position)
    case 3: bytes.insert(contentsOf: Array(" :;=/,~\r\n-9".utf8).shuffled(using: &generator).prefix(3), at: position)
    case 4: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: position)
    default: bytes.removeSubrange(position...)
    }
  }

  private static func readEverything(of description: SessionDescription) {
    _ = (description.bundles, description.origin, description.direction)
    for section in description.sections {
      _ = (section.payloadFormats, section.mid, section.direction)
      for line in section.lines {
        guard case .attribute(_, let value?) = line.content else { continue }
        _ = (
          Fingerprint(parsing: value), HeaderExtensionMap(parsing: value), SourceAttribute(parsing: value),
          SourceGroup(parsing: value), RestrictionIdentifier(parsing: value), SimulcastDescription(parsing: value)
        )
      }
    }
  }
}
