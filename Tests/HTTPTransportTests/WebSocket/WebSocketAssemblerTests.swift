import HTTPTransport
import NIOCore
import NIOWebSocket
import Testing

@Suite("WebSocket frames")
struct WebSocketAssemblerTests {
  private func frame(
    _ opcode: WebSocketOpcode, _ text: String = "", fin: Bool = true, rsv1: Bool = false
  ) -> WebSocketFrame {
    WebSocketFrame(fin: fin, rsv1: rsv1, opcode: opcode, data: ByteBuffer(string: text))
  }

  @Test("fragments are joined, and control frames may occur between them")
  func fragments() throws {
    var assembler = WebSocketAssembler(side: .client, maximumBytes: 100)
    #expect(try assembler.received(frame(.text, "a", fin: false)) == .incomplete)
    #expect(try assembler.received(frame(.ping, "p")) == .ping(ByteBuffer(string: "p")))
    #expect(try assembler.received(frame(.continuation, "", fin: false)) == .incomplete)
    #expect(try assembler.received(frame(.pong)) == .pong)
    #expect(try assembler.received(frame(.continuation, "b")) == .message(.text("ab")))
    #expect(try assembler.received(frame(.binary, "c")) == .message(.binary(ByteBuffer(string: "c"))))
  }

  @Test("fragments may split a character")
  func cutCharacter() throws {
    var assembler = WebSocketAssembler(side: .client, maximumBytes: 100)
    let bytes = Array("ü".utf8)
    _ = try assembler.received(WebSocketFrame(fin: false, opcode: .text, data: ByteBuffer(bytes: bytes[..<1])))
    let last = WebSocketFrame(fin: true, opcode: .continuation, data: ByteBuffer(bytes: bytes[1...]))
    #expect(try assembler.received(last) == .message(.text("ü")))
  }

  @Test("masked data is unmasked, and an unmasked frame of a client is rejected")
  func masks() throws {
    var assembler = WebSocketAssembler(side: .server, maximumBytes: 100)
    var data = ByteBuffer(string: "hello")
    let mask: WebSocketMaskingKey = [1, 2, 3, 4]
    data.webSocketMask(mask)
    let masked = WebSocketFrame(fin: true, opcode: .text, maskKey: mask, data: data)
    #expect(try assembler.received(masked) == .message(.text("hello")))
    #expect(throws: WebSocketViolation.self) { try assembler.received(frame(.text, "x")) }
    var client = WebSocketAssembler(side: .client, maximumBytes: 100)
    #expect(throws: WebSocketViolation.self) { try client.received(masked) }
  }

  @Test("a message of exactly the limit passes, and one byte more fails with code 1009")
  func limit() throws {
    var assembler = WebSocketAssembler(side: .client, maximumBytes: 4)
    #expect(try assembler.received(frame(.text, "1234")) == .message(.text("1234")))
    _ = try assembler.received(frame(.text, "123", fin: false))
    #expect { try assembler.received(frame(.continuation, "45")) } throws: { ($0 as? WebSocketViolation)?.code == 1009 }
  }

  @Test("frames in the wrong order fail with code 1002, invalid UTF-8 with 1007")
  func violations() {
    func code(_ frames: [WebSocketFrame]) -> UInt16? {
      var assembler = WebSocketAssembler(side: .client, maximumBytes: 100)
      do {
        for frame in frames { _ = try assembler.received(frame) }
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code([frame(.continuation)]) == 1002)
    #expect(code([frame(.text, fin: false), frame(.text)]) == 1002)
    #expect(code([frame(.text, fin: false), frame(.continuation), frame(.continuation)]) == 1002)
    #expect(code([frame(.text, rsv1: true)]) == 1002)
    #expect(code([WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: [0xFF]))]) == 1007)
    #expect(code([WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: [0xED, 0xA0, 0x80]))]) == 1007)
    if let unknown = WebSocketOpcode(encodedWebSocketOpcode: 3) { #expect(code([frame(unknown)]) == 1002) }
  }

  @Test("a close frame is empty, or has an allowed code and a text")
  func close() throws {
    func outcome(_ bytes: [UInt8]) throws -> WebSocketAssembler.Outcome {
      var assembler = WebSocketAssembler(side: .client, maximumBytes: 100)
      return try assembler.received(WebSocketFrame(fin: true, opcode: .connectionClose, data: ByteBuffer(bytes: bytes)))
    }
    #expect(try outcome([]) == .close(code: nil, reason: ""))
    #expect(try outcome([0x03, 0xE8]) == .close(code: 1000, reason: ""))
    #expect(try outcome([0x0F, 0xA0] + Array("why".utf8)) == .close(code: 4000, reason: "why"))
    for bytes: [UInt8] in [
      [0x03], [0, 0], [0x03, 0xED], [0x03, 0xEE], [0x03, 0xF7], [0x13, 0x88], [0x03, 0xE8, 0xFF],
    ] {
      #expect(throws: WebSocketViolation.self) { try outcome(bytes) }
    }
  }
}
