import ArgumentParser
import CommandSettings

/// Prints the manual page; `make install` and `make deb` call it.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Print the manual page, in the macros of man(7).", shouldDisplay: false)

  func run() throws {
    let page = ManualPage(
      try CommandDescription(dump: ChatbotService._dumpHelp()), version: ProgramVersion.text,
      sections: [
        ManualPage.Section(title: "Environment", text: Self.environment),
        ManualPage.Section(title: "Files", text: Self.files),
        ManualPage.Section(title: "Exit status", text: Self.exitStatus),
      ])
    print(page.text, terminator: "")
  }

  private static let environment = """
    CHATBOT_SERVICE_CONFIG   the file of settings, where --config is not given
    CHATBOT_SERVICE_URL      the address of the service, for “jobs”
    CHATBOT_SERVICE_TOKEN    the token, for “jobs”
    CHATBOT_PROGRAM          the program chatbot, which runs the jobs; else it is beside this program or in PATH
    """

  private static let files = """
    /etc/chatbot/service.yaml   the settings of the service that systemd starts
    DATA/admin.token            the token of an administrator, which the first start makes
    DATA/tokens                 the digests of all tokens
    DATA/store                  the recordings
    DATA is the folder of the settings' “data”: /var/lib/chatbot for systemd, else ./chatbot-data.
    """

  private static let exitStatus = """
    0    the service has ended in order; the request was done
    1    the service refused the request
    64   an option or the settings cannot be used
    69   the service cannot run, or does not answer
    """
}
