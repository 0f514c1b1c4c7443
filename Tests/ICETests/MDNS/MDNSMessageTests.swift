import ICE
import NIOCore
import TestSupport
import Testing

@Suite("Multicast DNS messages")
struct MDNSMessageTests {
  @Test("a query from port 5353 has the id 0, one question and no top bit in its class")
  func query() throws {
    let name = try #require(MDNSName("ab-1.local"))
    let query = MDNSMessage.query(for: name, type: .a)
    #expect(query == bytes("0000 0000 0001 0000 0000 0000 04 61622d31 05 6c6f63616c 00 0001 0001"))
  }

  @Test("a one-shot query has an id, and the top bit of its class asks for a unicast response")
  func oneShotQuery() throws {
    let name = try #require(MDNSName("AB-1.Local"))
    let query = MDNSMessage.query(for: name, type: .aaaa, id: 0x1234, wantsUnicastResponse: true)
    #expect(query == bytes("1234 0000 0001 0000 0000 0000 04 61622d31 05 6c6f63616c 00 001c 8001"))
  }

  @Test(
    "names of browsers are accepted in any case",
    arguments: [
      "f00bdccb-47fd-4380-97ba-283b81cc218f.local", "F00BDCCB-47FD-4380-97BA-283B81CC218F.LOCAL", "a.local", "-.local",
      String(repeating: "7", count: 63) + ".local",
    ])
  func names(text: String) {
    #expect(MDNSName(text)?.description == text.lowercased())
  }

  @Test(
    "other names are rejected",
    arguments: [
      "", ".local", "local", "a.b.local", "a.local.", "a.locale", "a.example", "a_b.local", "a b.local", "a\0.local",
      "_http._tcp.local", "192.0.2.1", "\u{212A}.local", "\u{e9}.local", "a\u{301}.local", "a.loca\u{301}l",
      String(repeating: "7", count: 64) + ".local", String(repeating: "a.", count: 5_000) + "local",
    ])
  func otherNames(text: String) {
    #expect(MDNSName(text) == nil)
  }

  @Test("Chromium's response contains its address and its NSEC record is skipped")
  func chromium() throws {
    let message = try MDNSMessage(parsingResponse: MDNSResponses.chromiumAddress)
    #expect(
      message.addressRecords == [
        .init(name: MDNSResponses.chromiumName, address: address("10.9.0.1").ip, timeToLive: 120)
      ])
  }

  @Test("Chromium's response to a query of the other family has its address in the additional section")
  func chromiumNegative() throws {
    let message = try MDNSMessage(parsingResponse: MDNSResponses.chromiumNegative)
    #expect(
      message.addressRecords == [
        .init(name: MDNSResponses.chromiumName, address: address("10.9.0.1").ip, timeToLive: 120)
      ])
  }

  @Test("a unicast response with repeated questions, compressed names, both families and a CNAME is parsed")
  func compression() throws {
    let message = try MDNSMessage(parsingResponse: MDNSResponses.compressed)
    #expect(
      message.addressRecords == [
        .init(name: "ab.local", address: address("192.0.2.7").ip, timeToLive: 120),
        .init(name: "cd.local", address: address("2001:db8::7").ip, timeToLive: 4),
      ])
  }

  @Test("the reader index of a datagram may be above 0")
  func offset() throws {
    var datagram = bytes("ffff ff")
    datagram.writeImmutableBuffer(MDNSResponses.compressed)
    datagram.moveReaderIndex(forwardBy: 3)
    let message = try MDNSMessage(parsingResponse: datagram)
    #expect(message.addressRecords.count == 2)
  }

  @Test("records of the authority section and of another class are skipped")
  func skipped() throws {
    let record = "01 61 05 6c6f63616c 00 0001 8001 00000078 0004 c0000201"
    let authority = bytes("0000 8400 0000 0000 0001 0000 \(record)")
    #expect(try MDNSMessage(parsingResponse: authority).addressRecords.isEmpty)
    let chaos = bytes("0000 8400 0000 0001 0000 0000 01 61 05 6c6f63616c 00 0001 8003 00000078 0004 c0000201")
    #expect(try MDNSMessage(parsingResponse: chaos).addressRecords.isEmpty)
  }

  @Test("a dot within a label does not end the label")
  func dots() throws {
    let message = try MDNSMessage(
      parsingResponse: bytes("0000 8400 0000 0001 0000 0000 07 612e6c6f63616c 00 0001 0001 00000078 0004 c0000201"))
    #expect(message.addressRecords.map(\.name) == ["a\\.local"])
  }

  @Test("at most 64 records are read")
  func manyRecords() throws {
    var datagram = bytes("0000 8400 0000 ffff ffff ffff")
    for _ in 0..<100 { datagram.writeImmutableBuffer(bytes("0161 00 0001 0001 00000078 0004 c0000201")) }
    #expect(try MDNSMessage(parsingResponse: datagram).addressRecords.count == 64)
  }

  @Test(
    "names up to 255 bytes and 127 labels are read",
    arguments: [(String(repeating: "0161", count: 127), 253), (String(repeating: "3f" + longLabel, count: 3), 191)])
  func longNames(labels: String, length: Int) throws {
    let message = try MDNSMessage(
      parsingResponse: bytes("0000 8400 0000 0001 0000 0000 \(labels) 00 0001 0001 00000078 0004 c0000201"))
    #expect(message.addressRecords.first?.name.utf8.count == length)
  }

  @Test(
    "each error is a sentence",
    arguments: [
      ("0000 8400 0000 0001 0000", "A DNS header needs 12 bytes, but only 10 arrived."),
      (
        "0000 0000 0001 0000 0000 0000",
        "A multicast DNS response has the flags 8000 and no error code, but this message has 0."
      ),
      (
        "0000 8403 0000 0000 0000 0000",
        "A multicast DNS response has the flags 8000 and no error code, but this message has 8403."
      ),
      (
        "0000 a400 0000 0000 0000 0000",
        "A multicast DNS response has the flags 8000 and no error code, but this message has a400."
      ),
      ("0000 8400 ffff 0000 0000 0000", "A DNS response may have at most 64 questions, but this one has 65535."),
      ("0000 8400 0001 0000 0000 0000 00 0001", "A DNS question or record needs 4 bytes, but only 2 are left."),
      ("0000 8400 0000 0001 0000 0000 0161", badName),
      ("0000 8400 0000 0001 0000 0000 0561", badName),
      ("0000 8400 0000 0001 0000 0000 c0", badName),
      ("0000 8400 0000 0001 0000 0000 8061 \(addressFields)", badName),
      // A pointer to itself, to the next label, and into the header.
      ("0000 8400 0000 0001 0000 0000 c00c \(addressFields)", badName),
      ("0000 8400 0000 0001 0000 0000 0161 c00c \(addressFields)", badName),
      ("0000 8400 0000 0001 0000 0000 0161 c010 \(addressFields)", badName),
      ("0000 8400 0000 0001 0000 0000 c000 \(addressFields)", badName),
      // 128 labels are 256 bytes, without the root label.
      ("0000 8400 0000 0001 0000 0000 \(String(repeating: "0161", count: 128)) 00 \(addressFields)", badName),
      ("0000 8400 0000 0001 0000 0000 \(String(repeating: "0161", count: 900)) 00 \(addressFields)", badName),
      (
        "0000 8400 0000 0001 0000 0000 0161 00 0001 0001 0000",
        "A DNS question or record needs 10 bytes, but only 6 are left."
      ),
      (
        "0000 8400 0000 0001 0000 0000 0161 00 0001 0001 00000078 ffff c000",
        "A DNS question or record needs 65535 bytes, but only 2 are left."
      ),
      (
        "0000 8400 0000 0001 0000 0000 0161 00 0001 0001 00000078 0005 c000020101",
        "A DNS record of type 1 has no address of 5 bytes."
      ),
      (
        "0000 8400 0000 0001 0000 0000 0161 00 001c 0001 00000078 0004 c0000201",
        "A DNS record of type 28 has no address of 4 bytes."
      ),
    ])
  func mistakes(hex: String, sentence: String) {
    do throws(MDNSMessage.ParseError) {
      let message = try MDNSMessage(parsingResponse: bytes(hex))
      Issue.record("\(hex) was parsed as \(message)")
    } catch {
      #expect(error.description == sentence)
    }
  }

  @Test("a pointer that leads to one that points forwards is an error")
  func forwardPointer() {
    // The data of a TXT record is a pointer to the empty name behind it. The name of an A record points to the pointer.
    let datagram = bytes("0000 8400 0000 0002 0000 0000 00 0010 0001 00000078 0003 c019 00 c017 \(addressFields)")
    #expect(throws: MDNSMessage.ParseError.badName(offset: 26)) { try MDNSMessage(parsingResponse: datagram) }
  }

  @Test("128 compression pointers in a row are followed, and 129 are not", arguments: [127, 128])
  func pointerChains(count: Int) {
    // A TXT record contains an empty name, and pointers of which each points to the one before it. The name of an A
    // record points to the last one.
    var datagram = bytes("0000 8400 0000 0002 0000 0000 00 0010 0001 00000078")
    datagram.writeMultipleIntegers(UInt16(1 + count * 2), 0 as UInt8)
    var target = datagram.writerIndex - 1
    for _ in 0..<count {
      datagram.writeInteger(0xC000 | UInt16(target))
      target = datagram.writerIndex - 2
    }
    datagram.writeInteger(0xC000 | UInt16(target))
    datagram.writeImmutableBuffer(bytes(addressFields))
    let records = try? MDNSMessage(parsingResponse: datagram).addressRecords
    #expect((records != nil) == (count < 128))
  }
}

private let longLabel = String(repeating: "61", count: 63)
private let addressFields = "0001 0001 00000078 0004 c0000201"
private let badName =
  "The DNS name at byte 12 is cut off, too long, or has a compression pointer that is not allowed."
