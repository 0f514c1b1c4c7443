import ICE
import NIOCore
import TestSupport
import Testing

@Suite("STUN messages")
struct STUNMessageTests {
  private let id = STUNTransactionID(high: 0x0102_0304, low: 0x0506_0708_090A_0B0C)

  private func header(_ type: UInt16, length: UInt16, cookie: UInt32 = 0x2112_A442) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.writeMultipleIntegers(type, length, cookie, id.high, id.low)
    return buffer
  }

  @Test("class and method share the type field as in figure 3 of RFC 8489")
  func types() throws {
    for (type, kind, method) in [
      (0x0001, STUNMessage.Kind.request, 1), (0x0011, .indication, 1), (0x0101, .success, 1),
      (0x0111, .errorResponse, 1),
      (0x0003, .request, 3), (0x0113, .errorResponse, 3), (0x3EEF, .request, 0xFFF), (0x3FFF, .errorResponse, 0xFFF),
    ] as [(UInt16, STUNMessage.Kind, UInt16)] {
      let datagram = header(type, length: 0)
      let message = try STUNMessage(parsing: datagram)
      #expect(message.kind == kind)
      #expect(message.method.rawValue == method)
      var written = ByteBuffer()
      message.write(into: &written)
      #expect(written == datagram)
    }
  }

  @Test("each kind of damage is rejected with its reason")
  func damage() {
    func error(_ datagram: ByteBuffer) -> STUNMessage.ParseError? {
      do throws(STUNMessage.ParseError) {
        _ = try STUNMessage(parsing: datagram)
        return nil
      } catch { return error }
    }
    #expect(error(ByteBuffer()) == .headerTooShort(arrived: 0))
    #expect(error(ByteBuffer(repeating: 0, count: 19)) == .headerTooShort(arrived: 19))
    #expect(error(header(0x8001, length: 0)) == .notSTUN(firstByte: 0x80))
    #expect(error(header(1, length: 0, cookie: 7)) == .wrongCookie(7))
    #expect(error(header(1, length: 8)) == .wrongLength(declared: 8, arrived: 0))
    var odd = header(1, length: 3)
    odd.writeBytes([0, 0, 0])
    #expect(error(odd) == .wrongLength(declared: 3, arrived: 3))
    var long = header(1, length: 8)
    long.writeMultipleIntegers(0x8022 as UInt16, 5 as UInt16, 0 as UInt32)
    #expect(error(long) == .attributeTooLong(type: 0x8022, needed: 8, left: 4))
    var many = header(1, length: 65 * 4)
    many.writeRepeatingByte(0, count: 65 * 4)
    #expect(error(many) == .tooManyAttributes(limit: 64))
  }

  @Test("errors are sentences with numbers")
  func sentences() {
    #expect(
      STUNMessage.ParseError.headerTooShort(arrived: 9).description
        == "A STUN header needs 20 bytes, but only 9 arrived.")
    #expect(
      STUNMessage.ParseError.attributeTooLong(type: 0x8022, needed: 8, left: 4).description
        == "STUN attribute 8022 needs 8 bytes, but only 4 are left.")
  }

  @Test("every typed attribute is parsed as it was set")
  func attributes() throws {
    var message = STUNMessage(.errorResponse, transactionID: id)
    message.username = "ours:theirs"
    message.software = "chatbot"
    message.priority = 0x7E00_00FF
    message.usesCandidate = true
    message.iceControlled = 1
    message.iceControlling = .max
    message.errorCode = .roleConflict
    message.unknownAttributes = [.init(rawValue: 0x7001), .init(rawValue: 0x7002)]
    message.mappedAddress = address("10.0.0.1", 1)
    message.xorMappedAddress = address("2001:db8::5", 65_535)
    let read = try STUNMessage(parsing: message.encoded(integrityKey: [1, 2, 3]))
    #expect(read.username == "ours:theirs")
    #expect(read.software == "chatbot")
    #expect(read.priority == 0x7E00_00FF)
    #expect(read.usesCandidate)
    #expect(read.iceControlled == 1)
    #expect(read.iceControlling == .max)
    #expect(read.errorCode == STUNErrorCode(487, "Role Conflict"))
    #expect(read.unknownAttributes.map(\.rawValue) == [0x7001, 0x7002])
    #expect(read.mappedAddress == address("10.0.0.1", 1))
    #expect(read.xorMappedAddress == address("2001:db8::5", 65_535))
    #expect(read.isAuthentic(key: [1, 2, 3]))
    var unset = read
    unset.usesCandidate = false
    unset.priority = nil
    #expect(!unset.usesCandidate)
    #expect(unset.priority == nil)
  }

  @Test("unknown attributes are kept, and the comprehension-required ones are listed")
  func unknown() throws {
    var message = STUNMessage(.request, transactionID: id)
    message.set(.init(rawValue: 0xC057), ByteBuffer(bytes: [0, 1, 2, 3, 4]))
    message.set(.init(rawValue: 0x7ABC), ByteBuffer())
    let datagram = message.encoded(integrityKey: nil)
    let read = try STUNMessage(parsing: datagram)
    #expect(read.attributesNotUnderstood.map(\.rawValue) == [0x7ABC])
    var written = ByteBuffer()
    read.write(into: &written)
    #expect(written == datagram)
  }

  @Test("attributes after MESSAGE-INTEGRITY are ignored")
  func behindIntegrity() throws {
    var message = STUNMessage(.request, transactionID: id)
    message.appendIntegrity(key: [1])
    message.attributes.append(STUNAttribute(.useCandidate, value: ByteBuffer()))
    message.appendFingerprint()
    var datagram = ByteBuffer()
    message.write(into: &datagram)
    let read = try STUNMessage(parsing: datagram)
    #expect(read.isAuthentic(key: [1]))
    #expect(!read.usesCandidate)
  }

  @Test("attributes of wrong size read as absent")
  func wrongSizes() {
    var message = STUNMessage(.request, transactionID: id)
    message.set(.priority, ByteBuffer(bytes: [1, 2, 3]))
    message.set(.iceControlled, ByteBuffer(bytes: [1]))
    message.set(.xorMappedAddress, ByteBuffer(bytes: [0, 1, 0, 80, 1, 2, 3]))
    message.set(.mappedAddress, ByteBuffer(bytes: [0, 3, 0, 80, 1, 2, 3, 4]))
    message.set(.errorCode, ByteBuffer(bytes: [0, 0, 9, 1]))
    #expect(message.priority == nil)
    #expect(message.iceControlled == nil)
    #expect(message.xorMappedAddress == nil)
    #expect(message.mappedAddress == nil)
    #expect(message.errorCode == nil)
  }

  @Test("a message in the middle of a buffer is parsed like one at its start")
  func slices() throws {
    var message = STUNMessage(.request, transactionID: id)
    message.username = "me:you"
    var buffer = ByteBuffer(string: "junk!")
    buffer.writeImmutableBuffer(message.encoded(integrityKey: [7]))
    buffer.moveReaderIndex(forwardBy: 5)
    let read = try STUNMessage(parsing: buffer)
    #expect(read.username == "me:you")
    #expect(read.isAuthentic(key: [7]))
    #expect(STUNRouting(buffer)?.localUsernameFragment == ByteBuffer(string: "me"))
  }

  @Test("class, transaction id and username fragment are read without parsing the whole message")
  func routing() throws {
    var message = STUNMessage(.request, transactionID: id)
    message.software = "before it"
    message.username = "AbC+/123:them:more"
    let routing = try #require(STUNRouting(message.encoded(integrityKey: [1])))
    #expect(routing.kind == .request)
    #expect(routing.method == .binding)
    #expect(routing.transactionID == id)
    #expect(routing.localUsernameFragment == ByteBuffer(string: "AbC+/123"))
    #expect(id.description == "0102030405060708090a0b0c")
  }

  @Test("a request without a valid username fragment selects no recipient")
  func envelopeWithoutRecipient() {
    for name in ["", "nocolon", ":them", "sp ace:them", String(repeating: "a", count: 257) + ":them"] {
      var message = STUNMessage(.request, transactionID: id)
      message.username = name
      #expect(STUNRouting(message.encoded(integrityKey: nil))?.localUsernameFragment == nil)
    }
    var longest = STUNMessage(.request, transactionID: id)
    longest.username = String(repeating: "a", count: 256) + ":them"
    #expect(STUNRouting(longest.encoded(integrityKey: nil))?.localUsernameFragment?.readableBytes == 256)
    let response = STUNMessage(.success, transactionID: id).encoded(integrityKey: nil)
    #expect(STUNRouting(response)?.kind == .success)
    #expect(STUNRouting(response)?.localUsernameFragment == nil)
    #expect(STUNRouting(ByteBuffer(string: "not STUN, but longer than twenty bytes")) == nil)
  }
}
