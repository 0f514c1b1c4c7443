import CMediaProgram
import Glibc
import MediaMessages

/// The program that decodes and encodes for `chatbot`, and the only one that links FFmpeg. It reads nothing but the socket with which it is
/// started: docs/security.md.
@main
enum MediaProgram {
  static func main() {
    cmediaprogram_log_start()
    switch CommandLine.arguments.dropFirst() {
    case []:
      var launcher = Launcher(socket: Launcher.inheritedSocket)
      launcher.run()
    case ["--self-test"]:
      exit(SelfTest.run(.decoding) ? 0 : 1)
    case ["--self-test", "--encoding"]:
      exit(SelfTest.run(.encoding) ? 0 : 1)
    case ["--self-test", "--writing"]:
      exit(SelfTest.run(.writing) ? 0 : 1)
    case ["--self-test", "--without-sandbox"]:
      exit(SelfTest.run(nil) ? 0 : 1)
    default:
      print(
        """
        chatbot-media decodes and encodes media for chatbot, which starts it.

        --self-test                      show what a sandboxed process cannot do
        --self-test --encoding           the same for one that encodes a composition: it has threads
        --self-test --writing            the same for one that writes a file whose descriptor it gets
        --self-test --without-sandbox    show that it can, without the sandbox
        """)
      exit(64)
    }
  }
}
