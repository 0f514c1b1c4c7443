import CMediaProgram
import Glibc

/// The program that decodes for `chatbot`, and the only one that links FFmpeg. It reads nothing but the socket with which it is
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
      exit(SelfTest.run(isConfined: true) ? 0 : 1)
    case ["--self-test", "--without-sandbox"]:
      exit(SelfTest.run(isConfined: false) ? 0 : 1)
    default:
      print(
        """
        chatbot-media decodes and encodes media for chatbot, which starts it.

        --self-test                      show what a sandboxed process cannot do
        --self-test --without-sandbox    show that it can, without the sandbox
        """)
      exit(64)
    }
  }
}
