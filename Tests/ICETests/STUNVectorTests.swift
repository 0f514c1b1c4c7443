import ICE
import NIOCore
import Testing

/// The test vectors of RFC 5769: parsed, verified, and written back byte for byte.
@Suite("STUN test vectors of RFC 5769")
struct STUNVectorTests {
  private let key = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)
  private let transactionID = STUNTransactionID(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE)

  private let request = bytes(
    """
    0001 0058 2112a442 b7e7a701 bc34d686 fa87dfae
    8022 0010 5354554e 20746573 7420636c 69656e74
    0024 0004 6e0001ff
    8029 0008 932ff9b1 51263b36
    0006 0009 6576746a 3a683676 59202020
    0008 0014 9aeaa70c bfd8cb56 781ef2b5 b2d3f249 c1b571a2
    8028 0004 e57a3bcf
    """)

  private let responseV4 = bytes(
    """
    0101 003c 2112a442 b7e7a701 bc34d686 fa87dfae
    8022 000b 74657374 20766563 746f7220
    0020 0008 0001a147 e112a643
    0008 0014 2b91f599 fd9e90c3 8c7489f9 2af9ba53 f06be7d7
    8028 0004 c07d4c96
    """)

  private let responseV6 = bytes(
    """
    0101 0048 2112a442 b7e7a701 bc34d686 fa87dfae
    8022 000b 74657374 20766563 746f7220
    0020 0014 0002a147 0113a9fa a5d3f179 bc25f4b5 bed2b9d9
    0008 0014 a382954e 4be67bf1 1784c97c 8292c275 bfe3ed41
    8028 0004 c8fb0b4c
    """)

  private let longTermRequest = bytes(
    """
    0001 0060 2112a442 78ad3433 c6ad72c0 29da412e
    0006 0012 e3839ee3 8388e383 aae38383 e382afe3 82b90000
    0015 001c 662f2f34 39396b39 35346436 4f4c3334 6f4c3946 53547679 36347341
    0014 000b 6578616d 706c652e 6f726700
    0008 0014 f6702465 6dd64a3e 02b8e071 2e85c9a2 8ca89666
    """)

  @Test("the sample request (2.1) is parsed and authentic")
  func readsRequest() throws {
    let message = try STUNMessage(parsing: request)
    #expect(message.kind == .request)
    #expect(message.method == .binding)
    #expect(message.transactionID == transactionID)
    #expect(message.software == "STUN test client")
    #expect(message.priority == 0x6E00_01FF)
    #expect(message.iceControlled == 0x932F_F9B1_5126_3B36)
    #expect(message.iceControlling == nil)
    #expect(message.username == "evtj:h6vY")
    #expect(!message.usesCandidate)
    #expect(message.isAuthentic(key: key))
    #expect(!message.isAuthentic(key: Array("VOkJxbRl1RmTxUk/WvJxBu".utf8)))
    #expect(message.hasValidFingerprint == true)
    #expect(message.attributesNotUnderstood.isEmpty)
  }

  @Test("the sample request is written byte for byte")
  func makesRequest() {
    var message = STUNMessage(.request, transactionID: transactionID)
    message.software = "STUN test client"
    message.priority = 0x6E00_01FF
    message.iceControlled = 0x932F_F9B1_5126_3B36
    // The vector pads the username with blanks instead of zeros.
    message.attributes.append(
      STUNAttribute(.username, value: ByteBuffer(string: "evtj:h6vY"), padding: ByteBuffer(string: "   ")))
    #expect(message.encoded(integrityKey: key) == request)
  }

  @Test("the sample IPv4 response (2.2) is parsed and authentic")
  func readsResponseV4() throws {
    let message = try STUNMessage(parsing: responseV4)
    #expect(message.kind == .success)
    #expect(message.software == "test vector")
    #expect(message.xorMappedAddress == address("192.0.2.1", 32_853))
    #expect(message.isAuthentic(key: key))
    #expect(message.hasValidFingerprint == true)
  }

  @Test("the sample IPv6 response (2.3) is parsed and authentic")
  func readsResponseV6() throws {
    let message = try STUNMessage(parsing: responseV6)
    #expect(message.xorMappedAddress == address("2001:db8:1234:5678:11:2233:4455:6677", 32_853))
    #expect(message.isAuthentic(key: key))
    #expect(message.hasValidFingerprint == true)
  }

  @Test("both sample responses are written byte for byte", arguments: [true, false])
  func makesResponses(isV4: Bool) {
    var message = STUNMessage(.success, transactionID: transactionID)
    // The vector pads the name with a blank instead of a zero.
    message.attributes.append(
      STUNAttribute(.software, value: ByteBuffer(string: "test vector"), padding: ByteBuffer(string: " ")))
    message.xorMappedAddress =
      isV4 ? address("192.0.2.1", 32_853) : address("2001:db8:1234:5678:11:2233:4455:6677", 32_853)
    #expect(message.encoded(integrityKey: key) == (isV4 ? responseV4 : responseV6))
  }

  @Test("the sample request with long-term authentication (2.4) is authentic with its MD5 key")
  func readsLongTermRequest() throws {
    let message = try STUNMessage(parsing: longTermRequest)
    #expect(message.username == "\u{30DE}\u{30C8}\u{30EA}\u{30C3}\u{30AF}\u{30B9}")
    #expect(message.first(.realm)?.value == ByteBuffer(string: "example.org"))
    #expect(message.first(.nonce)?.value == ByteBuffer(string: "f//499k954d6OL34oL9FSTvy64sA"))
    #expect(message.hasValidFingerprint == nil)
    // MD5 of "マトリックス:example.org:TheMatrIX" (RFC 8489, 9.2.2).
    let key = Array(bytes(Self.longTermKey).readableBytesView)
    #expect(message.isAuthentic(key: key))
  }

  private static let longTermKey = "e8ca7ad59d5eb0518e312911d2dab2a9"

  @Test("every vector is written back byte for byte")
  func writesBack() throws {
    for datagram in [request, responseV4, responseV6, longTermRequest] {
      var written = ByteBuffer()
      try STUNMessage(parsing: datagram).write(into: &written)
      #expect(written == datagram)
    }
  }

  @Test("any single changed bit invalidates integrity or fingerprint")
  func changedBits() throws {
    for index in 0..<(request.readableBytes * 8) {
      var changed = request
      let byte = changed.getInteger(at: index / 8, as: UInt8.self) ?? 0
      changed.setInteger(byte ^ (1 << (index % 8)), at: index / 8)
      guard let message = try? STUNMessage(parsing: changed) else { continue }
      #expect(!(message.isAuthentic(key: key) && message.hasValidFingerprint == true), "bit \(index)")
    }
  }
}
