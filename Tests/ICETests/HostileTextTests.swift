import ICE
import Media
import NIOCore
import TestSupport
import Testing

/// Text outside ASCII, which takes long to compare as Swift strings.
@Suite("Hostile text in ICE and multicast DNS")
struct HostileTextTests {
  /// A label of 63 bytes: a letter and 31 combining marks in the wrong order.
  private static let marks = Array("a".utf8) + (0..<31).flatMap { Array(($0 < 16 ? "\u{0301}" : "\u{0316}").utf8) }
  private static let plain = [UInt8](repeating: UInt8(ascii: "a"), count: marks.count)

  private func write(_ label: [UInt8], into buffer: inout ByteBuffer) {
    for _ in 0..<3 {
      buffer.writeInteger(UInt8(label.count))
      buffer.writeBytes(label)
    }
    buffer.writeMultipleIntegers(0 as UInt8, 1 as UInt16, 1 as UInt16)
  }

  /// A message with many questions for a name and many records with other names, as a stranger on the link can send it.
  private func message(_ label: [UInt8], about name: MDNSName, address: IPAddress, isResponse: Bool) -> ByteBuffer {
    var buffer = ByteBuffer()
    let (questions, records): (UInt16, UInt16) = (isResponse ? 0 : 60, 60)
    buffer.writeMultipleIntegers(
      0 as UInt16, (isResponse ? 0x8400 : 0) as UInt16, questions, records, 0 as UInt16, 0 as UInt16)
    // What follows the header of 12 bytes: the name, A and IN.
    let query = MDNSMessage.query(for: name, type: .a)
    let question = query.getSlice(at: 12, length: query.readableBytes - 12) ?? ByteBuffer()
    for _ in 0..<questions {
      buffer.writeImmutableBuffer(question)
    }
    for _ in 0..<records {
      write(label, into: &buffer)
      buffer.writeMultipleIntegers(120 as UInt32, 4 as UInt16)
      address.write(into: &buffer)
    }
    return buffer
  }

  @Test("a multicast DNS message with names of combining marks costs no more than one with names of ASCII")
  func names() throws {
    let ip = address("10.9.0.7").ip
    let names = HostNames(generator: SeededGenerator(seed: 5))
    let name = try #require(names.name(of: ip))
    for isResponse in [false, true] {
      let ratio = ProcessorTime.ratio(of: Self.marks, to: Self.plain) { label in
        let message = message(label, about: name, address: ip, isResponse: isResponse)
        var responder = MDNSResponder(names: names)
        var resolver = MDNSResolver()
        resolver.resolve(name.description, now: .now)
        for _ in 0..<10 {
          responder.received(message, now: .now)
          resolver.received(message, from: TransportAddress(ip: ip, port: MDNSMessage.port), now: .now)
        }
      }
      #expect(ratio < 4, "Marks cost \(ratio) times as much as ASCII.")
    }
    let read = try MDNSMessage(
      parsingResponse: message(Self.marks, about: name, address: ip, isResponse: true))
    #expect(read.addressRecords.isEmpty)
  }

  @Test("a user name that is not ASCII has no fragment of ours")
  func username() {
    var message = STUNMessage(.request, transactionID: .init(high: 1, low: 2))
    message.username = "abcd:efgh:ij"
    #expect(message.senderUsernameFragment == "efgh:ij")
    for text in ["abcd", "abcd:\u{E9}fgh", "\u{E9}bcd:efgh"] {
      message.username = text
      #expect(message.senderUsernameFragment == nil)
    }
  }

  @Test("a candidate that is not ASCII is rejected before it is divided")
  func candidates() {
    let end = " 1 udp 5 10.0.0.1 9 typ host ufrag "
    for text in ["candidate:1" + end + "\u{E9}", "candidate:\u{301}" + end, "\u{E9}"] {
      #expect(throws: ICECandidate.ParseError.notASCII) { try ICECandidate(parsing: text) }
    }
  }
}
