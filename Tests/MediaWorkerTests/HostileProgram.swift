import Foundation
import MediaMessages
import MediaWorker

/// A program in place of `chatbot-media` whose workers misbehave.
struct HostileProgram: ~Copyable {
  enum Behaviour: String, CaseIterable, Sendable {
    /// Sends bytes that are no message.
    case garbage
    /// Sends more than a message can have.
    case tooLong
    /// Answers with a frame that is larger than the shared memory.
    case planesOutside
    /// Answers with a frame above 4096x4096.
    case tooLarge
    /// Answers with the number of another request.
    case otherNumber
    /// Answers a frame of video with audio.
    case audio
    /// Closes its socket.
    case closed
    /// Is ended by a signal.
    case crashed
    /// Uses the processor for longer than a frame may take.
    case busy
  }

  let path: String

  init(_ behaviour: Behaviour) throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try Self.text.replacingOccurrences(of: "BEHAVIOUR", with: behaviour.rawValue)
      .write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var launcher: MediaLauncher { MediaLauncher(path: path) }

  private static let text = """
    #!/usr/bin/env python3
    import array, os, signal, socket, struct, time
    launcher = socket.socket(fileno=3)
    launcher.send(bytes([1, \(MediaLimits.version)]))

    def serve(end):
      while True:
        request = end.recv(512)
        if not request:
          return
        number, kind = struct.unpack('<IB', request[:5])
        if kind != 3:
          end.send(struct.pack('<IB', number, 1))
          continue
        plane = struct.pack('<II', 0, 64)
        response = {
          'garbage': b'garbage', 'tooLong': bytes(1000),
          'planesOutside': struct.pack('<IBIIB', number, 4, 64, 64, 1) + plane * 2 + struct.pack('<IIBB', 33553000, 64, 0, 0),
          'tooLarge': struct.pack('<IBIIBBB', number, 4, 4097, 64, 0, 0, 0),
          'otherNumber': struct.pack('<IB', number + 1, 3),
          'audio': struct.pack('<IBIII', number, 5, 160, 1, 16000),
        }.get('BEHAVIOUR')
        if response:
          end.send(response)
        elif 'BEHAVIOUR' == 'closed':
          end.close()
          time.sleep(60)
        elif 'BEHAVIOUR' == 'crashed':
          os.kill(os.getpid(), signal.SIGSEGV)
        while 'BEHAVIOUR' == 'busy':
          pass

    while True:
      request, control, _, _ = launcher.recvmsg(512, socket.CMSG_SPACE(8))
      if not request:
        break
      if request[0] == 1:
        descriptors = array.array('i')
        descriptors.frombytes(control[0][2])
        child = os.fork()
        if child == 0:
          launcher.close()
          serve(socket.socket(fileno=descriptors[0]))
          os._exit(0)
        for descriptor in descriptors:
          os.close(descriptor)
        launcher.send(struct.pack('<Bi', 2, child))
      else:
        child = struct.unpack('<i', request[1:5])[0]
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if request[0] == 2:
          launcher.send(struct.pack('<Bi', 3, -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)))
    """
}
